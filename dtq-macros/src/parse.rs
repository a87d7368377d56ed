//! The first stage, the same for every macro: tokens to raw types, and what is emitted when that fails.

use proc_macro2::TokenStream;
use quote::quote;

use crate::entries::{self, Entry};
use crate::errors::Errors;
use crate::function::{self, Function};

/// What the user wrote, of whatever sense.
pub(crate) struct Raw {
    pub(crate) settings: Vec<Entry>,
    /// `None` when the item is no function; the error is given.
    pub(crate) function: Option<Function>,
}

/// `attribute` names the macro in errors.
pub(crate) fn parse(args: TokenStream, item: &TokenStream, attribute: &str, errors: &mut Errors) -> Raw {
    let settings = entries::parse(args, errors);
    let function = function::parse(item, attribute, errors);
    Raw { settings, function }
}

/// The fallback for an item that is no function: it stays as it is, beside the errors.
pub(crate) fn untouched(item: &TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.into_tokens();
    quote!(#errors #item)
}
