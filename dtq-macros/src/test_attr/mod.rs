//! `#[dtq::test]`.

mod expand;
mod validate;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::{fallback, parse};

pub(crate) fn test(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let raw = parse::parse(args, item, "#[dtq::test]", &mut errors);
    let Some(function) = raw.function else {
        return parse::untouched(item, errors);
    };
    match validate::validate(function, &raw.settings, &mut errors) {
        Ok(test) => expand::expand(&test),
        Err(function) => fallback::plain(*function, errors),
    }
}
