//! A valid test to code.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::validate::Test;
use crate::function::{self, Function};

/// The test, around the user's function.
pub(crate) fn expand(test: &Test) -> TokenStream {
    let private = function::private(test.krate.as_ref());
    let (attrs, vis, ident) = (&test.function.attrs, &test.function.vis, &test.function.sig.ident);
    // The attributes are the test's: `#[ignore]` and `#[should_panic]` belong to it, and the levels of lints reach inside.
    let inner = Function { attrs: Vec::new(), ..test.function.clone() };
    let inner = function::stripped(&inner, |_| false);
    // At the user's types, so that what does not fit is told there.
    let call = quote_spanned!(function::at(test.app.span())=> #ident(__app));
    let check = match &test.function.sig.output {
        ReturnType::Type(_, ty) => {
            let returned = function::at_type(ty, quote!(#private::TestReturn));
            quote!(<#ty as #returned>::check(#call.await))
        }
        ReturnType::Default => quote!(#call.await),
    };
    let several_threads = test.several_threads;
    // Inside, the name is the user's function: items of a block come before those around it.
    quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #ident() {
            #inner
            #private::test(#several_threads, |__app| ::std::boxed::Box::pin(async move { #check }))
        }
    }
}
