//! `#[dtq::subscriber]`.

mod expand;
mod fallback;
mod form;
mod options;
mod params;
mod source;
mod validate;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::parse;

pub(crate) fn subscriber(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let (sources, settings) = source::split(args);
    let raw = parse::parse(settings, item, "#[dtq::subscriber]", &mut errors);
    let Some(function) = raw.function else {
        return parse::untouched(item, errors);
    };
    let form = form::validate(sources, &mut errors);
    let options = options::validate(&raw.settings, form.as_ref(), &mut errors);
    let krate = options.krate.clone();
    match validate::validate(function, form, options, &mut errors) {
        Ok(subscriber) => expand::expand(&subscriber),
        Err(function) => fallback::stub(*function, krate.as_ref(), errors),
    }
}
