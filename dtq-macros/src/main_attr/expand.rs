//! A valid program to code.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::validate::Program;
use crate::function;

/// The entry point, around the user's function.
pub(crate) fn expand(program: &Program) -> TokenStream {
    let private = match &program.krate {
        Some(path) => quote!(#path::__private),
        None => quote!(::dtq::__private),
    };
    let cfgs = function::cfgs(&program.function.attrs);
    let (vis, ident) = (&program.function.vis, &program.function.sig.ident);
    let set_up = function::stripped(&program.function, |_| false);
    let call = match &program.app {
        Some(ty) => quote_spanned!(ty.span()=> #ident(__app)),
        None => quote!(#ident()),
    };
    let result = match &program.function.sig.output {
        syn::ReturnType::Type(_, ty) => quote_spanned!(ty.span()=> #private::setup_result(__returned)),
        syn::ReturnType::Default => quote!(#private::setup_result(__returned)),
    };
    // Inside, `main` is the user's function: items of a block come before those around it.
    quote! {
        #(#cfgs)*
        #vis fn #ident() -> ::std::process::ExitCode {
            #set_up
            #private::main(::core::env!("CARGO_BIN_NAME"), |__app: &mut #private::App| ::std::boxed::Box::pin(async move {
                let __returned = #call.await;
                #result
            }))
        }
    }
}
