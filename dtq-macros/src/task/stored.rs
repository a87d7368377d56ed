//! The part of a task's code that writes and reads its arguments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::expand::{arguments, calm, private};
use super::params::Argument;
use super::validate::Task;
use crate::function;

/// How the arguments are written and read. By hand and not by serde's derive macros: those would tell of a type that cannot
/// be stored once for each use that they make of it, and take a good part of the time to compile a task.
pub(super) fn stored(task: &Task) -> TokenStream {
    let (private, attrs) = (private(task), &task.function.attrs);
    let (ident, cfgs, calm) = (function::quiet(&task.function.sig.ident), function::cfgs(attrs), calm(task));
    let arguments = arguments(task);
    let (name, count) = (&task.name, arguments.len());
    let writes = arguments.iter().map(|Argument { ident, ty, .. }| {
        let (trait_, field, name) =
            (function::at_type(ty, quote!(#private::Argument)), function::quiet(ident), ident.unraw().to_string());
        quote!(<#ty as #trait_>::write(&self.#field, #name, &mut __to)?;)
    });
    let reads = arguments.iter().map(|argument| read(argument, &private));
    let known = arguments.iter().flat_map(|argument| names(argument));
    let (payload, borrow) = match count {
        0 => (quote!(_), quote!()),
        _ => (quote!(mut __payload), quote!(mut)),
    };
    quote! {
        #(#cfgs)* #calm
        impl #private::serde::Serialize for #ident {
            fn serialize<__S: #private::serde::Serializer>(&self, __to: __S) -> ::core::result::Result<__S::Ok, __S::Error> {
                let #borrow __to = #private::serde::Serializer::serialize_struct(__to, #name, #count)?;
                #(#writes)*
                #private::serde::ser::SerializeStruct::end(__to)
            }
        }
        #(#cfgs)* #calm
        impl<'__de> #private::serde::Deserialize<'__de> for #ident {
            fn deserialize<__D: #private::serde::Deserializer<'__de>>(__from: __D) -> ::core::result::Result<Self, __D::Error> {
                let #payload = #private::Payload::read(__from, &[#(#known),*])?;
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }
    }
}

/// What a field may be called in a payload: its name first.
fn names(argument: &Argument) -> Vec<String> {
    let aliases = argument.aliases.iter().cloned();
    std::iter::once(argument.ident.unraw().to_string()).chain(aliases).collect()
}

/// One field out of the payload.
fn read(argument: &Argument, private: &TokenStream) -> TokenStream {
    let Argument { ident, ty, default, aliases, .. } = argument;
    let (field, name) = (function::quiet(ident), ident.unraw().to_string());
    let (stored, fallback) =
        (function::at_type(ty, quote!(#private::Argument)), function::at_type(ty, quote!(#private::Fallback)));
    let names = quote!(&[#name #(, #aliases)*]);
    match default {
        true => quote!(#field: <#ty as #stored>::take_or(&mut __payload, #names, <#ty as #fallback>::fallback)?),
        false => quote!(#field: <#ty as #stored>::take(&mut __payload, #names)?),
    }
}
