//! What is emitted beside errors.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::function::Function;
use crate::soften;

/// The function stays inside an entry point of its name, so that the program has one and the body is still checked.
pub(crate) fn plain(function: Function, errors: Errors) -> TokenStream {
    let errors = errors.into_tokens();
    let ident = function.sig.ident.clone();
    let method = function.sig.inputs.iter().any(|input| matches!(input, syn::FnArg::Receiver(_)));
    let function = soften::softened(function);
    if method {
        return quote!(#errors #function);
    }
    quote!(#errors #[allow(dead_code)] fn #ident() { #function })
}
