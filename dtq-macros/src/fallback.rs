//! What is emitted beside the errors of `#[dtq::main]` and `#[dtq::test]`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::function::Function;
use crate::soften;

/// The function stays inside a plain one of its name: so a program has its entry point, and the body is still checked.
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
