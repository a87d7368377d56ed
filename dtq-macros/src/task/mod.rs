//! `#[dtq::task]`.

mod backoff;
mod expand;
mod fallback;
mod name;
mod options;
mod params;
mod types;
mod validate;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::parse;

pub(crate) fn task(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let raw = parse::parse(args, &item, "#[dtq::task]", &mut errors);
    let Some(function) = raw.function else {
        return parse::untouched(&item, errors);
    };
    let options = options::validate(&raw.settings, &mut errors);
    match validate::validate(function, options, &mut errors) {
        Ok(task) if errors.is_empty() => expand::expand(&task),
        Ok(task) => fallback::unregistered(&task, errors),
        Err(function) => fallback::stub(*function, errors),
    }
}
