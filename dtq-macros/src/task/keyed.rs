//! The part of a task's code that makes keys of its arguments.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::expand::{arguments, millis, private};
use super::keys::Until;
use super::template::{Piece, Template};
use super::validate::Task;
use crate::function;

/// `idempotency` and `unique`; without the options the trait's own ones stay.
pub(super) fn keys(task: &Task) -> TokenStream {
    let private = private(task);
    let idempotency = task.options.idempotency_key.as_ref().map(|it| {
        let key = key(&it.template, task);
        let keep = it.keep.map(|keep| {
            let keep = millis(keep);
            quote!(.keep(#private::millis(#keep)))
        });
        quote! {
            fn idempotency(&self) -> ::core::option::Option<#private::Idempotency> {
                ::core::option::Option::Some(#private::Idempotency::new(#key)#keep)
            }
        }
    });
    let unique = task.options.unique.as_ref().map(|it| {
        let (key, on_conflict) = (key(&it.template, task), format_ident!("{}", it.on_conflict));
        let until = match it.until {
            Until::Started => quote!(Started),
            Until::Finished => quote!(Finished),
            Until::Period(period) => {
                let period = millis(period);
                quote!(Period(#private::millis(#period)))
            }
        };
        quote! {
            fn unique(&self) -> ::core::option::Option<#private::Unique> {
                ::core::option::Option::Some(
                    #private::Unique::new(#key)
                        .until(#private::Until::#until)
                        .on_conflict(#private::OnConflict::#on_conflict),
                )
            }
        }
    });
    quote!(#idempotency #unique)
}

/// The key as an expression.
fn key(template: &Template, task: &Task) -> TokenStream {
    let private = private(task);
    let arguments = arguments(task);
    let pieces = template.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => quote!(__key.text(#text);),
        Piece::Argument(name) => {
            let argument = arguments.iter().find(|argument| argument.ident.unraw() == name);
            argument.map_or_else(TokenStream::new, |argument| {
                let (ty, field) = (&argument.ty, function::quiet(&argument.ident));
                let part = function::at_type(ty, quote!(#private::KeyPart));
                quote!(<#ty as #part>::write(&self.#field, __key);)
            })
        }
    });
    quote!(#private::key(|__key| { #(#pieces)* }))
}
