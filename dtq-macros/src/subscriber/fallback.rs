//! What is emitted beside errors: as much as keeps the code that uses the subscriber free of red.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use crate::errors::Errors;
use crate::function::{self, Function};
use crate::soften;

/// The function stays, beside a type that is a subscriber of nothing.
pub(crate) fn stub(function: Function, krate: Option<&Path>, errors: Errors) -> TokenStream {
    soften::beside(function, errors, |function| type_stub(function, krate))
}

fn type_stub(function: &Function, krate: Option<&Path>) -> TokenStream {
    let private = function::private(krate);
    let (vis, ident) = (&function.vis, function::quiet(&function.sig.ident));
    let cfgs = function::cfgs(&function.attrs);
    quote! {
        #(#cfgs)*
        #[doc = "A subscriber with errors."]
        #[allow(dead_code)]
        #vis struct #ident {}
        #(#cfgs)*
        impl #private::Subscriber for #ident {
            const DEF: #private::SubscriberDef =
                #private::SubscriberDef::new("", #private::Form::List(#private::ListForm::new("")));
            fn run(_: #private::MessageCall) -> #private::HandlerFuture { ::core::unreachable!() }
        }
    }
}
