//! `#[dtq::main]`.

mod expand;
mod validate;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::{fallback, parse};

pub(crate) fn main(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let raw = parse::parse(args, item, "#[dtq::main]", &mut errors);
    let Some(function) = raw.function else {
        return parse::untouched(item, errors);
    };
    match validate::validate(function, &raw.settings, &mut errors) {
        Ok(program) => expand::expand(&program),
        Err(function) => fallback::plain(*function, errors),
    }
}
