//! A valid program to code.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::validate::Program;
use crate::function;

/// The entry point, around the user's function.
pub(crate) fn expand(program: &Program) -> TokenStream {
    let private = function::private(program.krate.as_ref());
    let cfgs = function::cfgs(&program.function.attrs);
    let (vis, ident) = (&program.function.vis, &program.function.sig.ident);
    let set_up = function::stripped(&program.function, |_| false);
    // At the user's types, so that what does not fit is told there.
    let call = match &program.app {
        Some(ty) => quote_spanned!(function::at(ty.span())=> #ident(__app)),
        None => quote!(#ident()),
    };
    let result = match &program.function.sig.output {
        ReturnType::Type(_, ty) => quote_spanned!(function::at(ty.span())=> setup_result(__returned)),
        ReturnType::Default => quote!(setup_result(__returned)),
    };
    // Inside, `main` is the user's function: items of a block come before those around it.
    quote! {
        #(#cfgs)*
        #vis fn #ident() -> ::std::process::ExitCode {
            #set_up
            let __program = match ::core::option_env!("CARGO_BIN_NAME") {
                ::core::option::Option::Some(__name) => __name,
                // In a doctest, or without Cargo.
                ::core::option::Option::None => ::core::module_path!(),
            };
            #private::main(__program, |__app: &mut #private::App| ::std::boxed::Box::pin(async move {
                let __returned = #call.await;
                #private::#result
            }))
        }
    }
}
