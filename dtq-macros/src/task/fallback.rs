//! What is emitted beside errors: as much as keeps the code that uses the task free of red.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{FnArg, GenericParam, PatType, Path, ReturnType, Type};

use super::params::{self, Argument, Param};
use super::validate::Task;
use super::{expand, returns, types};
use crate::errors::Errors;
use crate::function::{self, Function};
use crate::soften;

/// Only options are wrong: the whole task, except that no worker finds it.
pub(crate) fn unregistered(task: &Task, errors: Errors) -> TokenStream {
    let (errors, defined) = (errors.into_tokens_under(&function::cfgs(&task.function.attrs)), expand::define(task));
    quote!(#errors #defined)
}

/// The function cannot be a task: it stays, beside a type whose calls take anything.
pub(crate) fn stub(function: Function, krate: Option<&Path>, errors: Errors) -> TokenStream {
    soften::beside(function, errors, |function| type_stub(function, krate))
}

fn type_stub(function: &Function, krate: Option<&Path>) -> TokenStream {
    let private = function::private(krate);
    let (vis, ident) = (&function.vis, function::quiet(&function.sig.ident));
    let cfgs = function::cfgs(&function.attrs);
    let output = returns::output_of(&private, output(function).unwrap_or(&ReturnType::Default));
    let mut arguments: Vec<_> = function.sig.inputs.iter().filter_map(|input| argument(input, function)).collect();
    forget_repeated(&mut arguments);
    let fields = arguments.iter().flatten().map(|argument| {
        let (name, ty) = (function::quiet(&argument.ident), &argument.ty);
        quote!(#[doc = ""] #vis #name: #ty)
    });
    let taken = arguments.iter().enumerate().map(|(index, argument)| match argument {
        Some(Argument { ident, ty, .. }) => {
            let name = function::quiet(ident);
            quote!(#name: #ty)
        }
        _ => {
            let name = format_ident!("__{index}");
            quote!(#name: impl ::core::marker::Sized)
        }
    });
    let taken: Vec<_> = taken.collect();
    quote! {
        #(#cfgs)*
        #[doc = "A task with errors."]
        #[allow(private_interfaces)]
        #vis struct #ident { #(#fields),* }
        #(#cfgs)*
        const _: () = {
            impl #private::Task for #ident {
                #output
                const DEF: #private::TaskDef = #private::TaskDef::new("");
                fn write(&self, _: &mut #private::Fields) -> #private::Written { ::core::unreachable!() }
                fn read(_: &mut #private::Payload<'_>) -> #private::Read<Self> { ::core::unreachable!() }
                // No `async fn`: its future would hold the arguments, and not be `Send` when one of them is not.
                fn handler(_: #private::Context, _: Self) -> impl ::core::future::Future<Output = #private::Ended> + ::core::marker::Send {
                    ::core::future::pending()
                }
            }
            #[allow(private_interfaces, unused_variables)]
            impl #ident {
                #[doc = ""]
                #vis fn call(#(#taken),*) -> #private::Call<Self> { ::core::unreachable!() }
                #[doc = ""]
                #vis fn enqueue(#(#taken),*) -> #private::Call<Self> { ::core::unreachable!() }
                #[doc = ""]
                #vis fn enqueue_many<__T>(_: impl ::core::iter::IntoIterator<Item = __T>) -> #private::CallMany<Self> { ::core::unreachable!() }
            }
        };
    }
}

/// True for a type that means nothing outside of the function: it names one of its parameters, or a lifetime.
fn is_generic(ty: &Type, function: &Function) -> bool {
    let names = function.sig.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    let names: Vec<_> = names.collect();
    types::names_lifetime(ty) || types::names_any(ty, &names)
}

/// The return type, when nothing is wrong with it.
fn output(function: &Function) -> Option<&ReturnType> {
    let output = &function.sig.output;
    let ReturnType::Type(_, ty) = output else { return None };
    let mut errors = Errors::default();
    types::check_return(ty, &mut errors);
    (errors.is_empty() && !is_generic(ty, function)).then_some(output)
}

/// A part of the payload; `Some(None)` when something is wrong with it.
fn argument(input: &FnArg, function: &Function) -> Option<Option<Argument>> {
    let FnArg::Typed(input) = input else { return None };
    match params::param(input, &mut Errors::default()) {
        Some(Param::Argument(argument)) => Some(Some(argument).filter(|argument| !is_generic(&argument.ty, function))),
        Some(_) => None,
        None => is_payload(input).then_some(None),
    }
}

/// Of two arguments of one name, the second is as good as none.
fn forget_repeated(arguments: &mut [Option<Argument>]) {
    let mut seen = Vec::new();
    for slot in arguments {
        let Some(name) = slot.as_ref().map(|argument| argument.ident.clone()) else { continue };
        if seen.contains(&name) {
            *slot = None;
        }
        seen.push(name);
    }
}

fn is_payload(input: &PatType) -> bool {
    let marked = input.attrs.iter().any(|attr| attr.path().is_ident("state"));
    let context = types::reference(&input.ty).is_some_and(|reference| types::is_context(&reference.elem));
    !marked && !context
}
