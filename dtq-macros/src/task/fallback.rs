//! What is emitted beside errors: as much as keeps the code that uses the task free of red.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::FnArg;

use super::validate::Task;
use super::{expand, params, types};
use crate::errors::Errors;
use crate::function::{self, Function};

/// Only options are wrong: the whole task, except that no worker finds it.
pub(crate) fn unregistered(task: &Task, errors: Errors) -> TokenStream {
    let (errors, defined) = (errors.into_tokens(), expand::define(task));
    quote!(#errors #defined)
}

/// The function cannot be a task: it stays, beside a type whose calls take anything.
pub(crate) fn stub(function: Function, errors: Errors) -> TokenStream {
    let errors = errors.into_tokens();
    // No type may stand in an `impl`, where a method is.
    let method = function.sig.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_)));
    let stub = (!method).then(|| type_stub(&function));
    let function = function::softened(function, params::is_ours);
    quote!(#errors #function #stub)
}

fn type_stub(function: &Function) -> TokenStream {
    let (vis, ident) = (&function.vis, function::quiet(&function.sig.ident));
    let cfgs = function::cfgs(&function.attrs);
    let taken = (0..function.sig.inputs.iter().filter(|input| is_payload(input)).count())
        .map(|index| format_ident!("__{index}"))
        .collect::<Vec<_>>();
    quote! {
        #(#cfgs)*
        #[doc = "A task with errors."]
        #[derive(::dtq::__private::serde::Serialize, ::dtq::__private::serde::Deserialize)]
        #[serde(crate = "::dtq::__private::serde")]
        #vis struct #ident {}
        #(#cfgs)*
        impl ::dtq::__private::Task for #ident {
            type Output = ();
            const DEF: ::dtq::__private::TaskDef = ::dtq::__private::TaskDef::new("");
            fn run(_: ::dtq::__private::ExecutionCall) -> ::dtq::__private::HandlerFuture { ::core::unreachable!() }
        }
        #(#cfgs)*
        impl #ident {
            #[doc = ""]
            #vis fn call(#(#taken: impl ::core::marker::Sized),*) -> ::dtq::__private::Call<Self> { ::core::unreachable!() }
            #[doc = ""]
            #vis fn enqueue(#(#taken: impl ::core::marker::Sized),*) -> ::dtq::__private::Call<Self> { ::core::unreachable!() }
            #[doc = ""]
            #vis fn enqueue_many<__T>(_: impl ::core::iter::IntoIterator<Item = __T>) -> ::dtq::__private::CallMany<Self> { ::core::unreachable!() }
        }
    }
}

fn is_payload(input: &FnArg) -> bool {
    let FnArg::Typed(input) = input else { return false };
    let marked = input.attrs.iter().any(|attr| attr.path().is_ident("state"));
    let context = types::reference(&input.ty).is_some_and(|reference| types::is_context(&reference.elem));
    !marked && !context
}
