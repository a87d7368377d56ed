//! The part of a task's code that is about what its function returns.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ReturnType;

use super::expand::private;
use super::validate::Task;
use crate::function;

/// The result type.
pub(super) fn output(task: &Task) -> TokenStream {
    output_of(&private(task), &task.function.sig.output)
}

/// The same for the stub of a task.
pub(super) fn output_of(private: &TokenStream, returned: &ReturnType) -> TokenStream {
    let ReturnType::Type(_, ty) = returned else {
        return quote!(
            type Output = ();
        );
    };
    let (first, last) = function::ends(ty);
    let output = returned_as(private, returned, quote_spanned!(last=> Output));
    let keyword = quote_spanned!(first=> type);
    quote_spanned!(last=> #keyword Output = #output;)
}

/// What makes of the returned value what it means.
pub(super) fn outcome(task: &Task) -> TokenStream {
    let private = private(task);
    let (first, last) = match &task.function.sig.output {
        ReturnType::Default => (task.function.sig.ident.span(), task.function.sig.ident.span()),
        ReturnType::Type(_, ty) => function::ends(ty),
    };
    let returned = quote_spanned!(function::at(last)=> __it);
    let outcome = returned_as(&private, &task.function.sig.output, quote_spanned!(last=> into_outcome));
    let private = function::moved(private, first);
    // From the first to the last token of the type: what is told of the whole is told of the type.
    let outcome = quote_spanned!(last=> #outcome(#returned));
    match &task.options.permanent_if {
        Some(rule) => quote!(#private::permanent_if(#outcome, #rule)),
        None => quote!(#private::settled(#outcome)),
    }
}

/// An item of `IntoOutcome` for the return type. The path spans the type and is told of at the same place wherever it
/// stands, so the compiler tells of it once.
fn returned_as(private: &TokenStream, returned: &ReturnType, item: TokenStream) -> TokenStream {
    let ReturnType::Type(_, ty) = returned else {
        return quote!(<() as #private::IntoOutcome>::#item);
    };
    let (first, last) = function::ends(ty);
    let (outcome, open) = (function::at_type(ty, quote!(#private::IntoOutcome)), quote_spanned!(first=> <));
    quote_spanned!(last=> #open #ty as #outcome>::#item)
}
