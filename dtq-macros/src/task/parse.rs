//! Tokens to raw types.

use proc_macro2::TokenStream;

use crate::entries::{self, Entry};
use crate::errors::Errors;
use crate::function::{self, Function};

/// What the user wrote, of whatever sense.
pub(crate) struct Raw {
    pub(crate) settings: Vec<Entry>,
    /// `None` when the item is no function; the error is given.
    pub(crate) function: Option<Function>,
}

pub(crate) fn parse(args: TokenStream, item: &TokenStream, errors: &mut Errors) -> Raw {
    let settings = entries::parse(args, errors);
    let function = function::parse(item, "#[dtq::task]", errors);
    Raw { settings, function }
}
