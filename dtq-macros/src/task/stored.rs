//! The part of a task's code that writes and reads its arguments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::expand::{arguments, private};
use super::params::Argument;
use super::validate::Task;
use crate::function;

/// How the arguments are written and read. Each asks one trait of its type, at the type's own place, so that one which cannot
/// be stored is told of once.
pub(super) fn stored(task: &Task) -> TokenStream {
    let private = private(task);
    let arguments = arguments(task);
    let writes = arguments.iter().map(|Argument { ident, ty, .. }| {
        let (trait_, field, name) =
            (function::at_type(ty, quote!(#private::Argument)), function::quiet(ident), ident.unraw().to_string());
        quote!(<#ty as #trait_>::write(&self.#field, #name, __to))
    });
    let writes: Vec<_> = writes.collect();
    let written = match writes.split_last() {
        Some((last, writes)) => quote!(#(#writes?;)* #last),
        None => quote!(::core::result::Result::Ok(())),
    };
    let reads = arguments.iter().map(|argument| read(argument, &private));
    quote! {
        fn write(&self, __to: &mut #private::Fields) -> #private::Written {
            #written
        }
        fn read(__from: &mut #private::Payload<'_>) -> #private::Read<Self> {
            ::core::result::Result::Ok(Self { #(#reads),* })
        }
    }
}

/// One field out of the payload.
fn read(argument: &Argument, private: &TokenStream) -> TokenStream {
    let Argument { ident, ty, default, aliases, .. } = argument;
    let (field, name) = (function::quiet(ident), ident.unraw().to_string());
    let (stored, fallback) =
        (function::at_type(ty, quote!(#private::Argument)), function::at_type(ty, quote!(#private::Fallback)));
    let names = quote!(&[#name #(, #aliases)*]);
    match default {
        true => quote!(#field: <#ty as #stored>::take_or(__from, #names, <#ty as #fallback>::fallback)?),
        false => quote!(#field: <#ty as #stored>::take(__from, #names)?),
    }
}
