//! The parameters of a subscriber's function: one payload, the message, shared state.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{FnArg, PatType, Type};

use crate::errors::Errors;
use crate::task::params as task_params;
pub(crate) use crate::task::params::is_ours;
use crate::task::types;

/// A valid parameter, in the order of the function.
pub(crate) enum Param {
    /// `meta: &Message`, with the place of its type.
    Message(Span),
    /// `#[state] x: &T`, with `T`.
    State(Type),
    /// The payload.
    Payload(Type),
}

/// Validates all parameters. Receivers are refused elsewhere.
pub(crate) fn validate<'a>(inputs: impl Iterator<Item = &'a FnArg>, errors: &mut Errors) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for input in inputs {
        let FnArg::Typed(input) = input else { continue };
        let Some(param) = param(input, errors) else { continue };
        let again = |other: &Param| std::mem::discriminant(other) == std::mem::discriminant(&param);
        if params.iter().any(again) {
            match param {
                Param::Message(_) => errors.at(&input.ty, "a subscriber is given one message: remove this parameter"),
                Param::Payload(_) => errors.at(
                    &input.ty,
                    "a subscriber takes one payload: put both into one `Json<T>`, take `Fields` for a stream's fields, or mark \
                     shared state `#[state]`",
                ),
                Param::State(_) => {}
            }
        }
        params.push(param);
    }
    params
}

fn param(input: &PatType, errors: &mut Errors) -> Option<Param> {
    for attr in &input.attrs {
        if attr.path().is_ident("arg") {
            errors.at(&attr.meta, "`#[arg]` is for the arguments of tasks: the payload of a message is one value");
        } else if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            errors.at(&attr.meta, "a subscriber's parameters cannot have conditions: write one function for each");
        }
    }
    if input.attrs.iter().any(|attr| attr.path().is_ident("state")) {
        return match task_params::param(input, errors) {
            Some(task_params::Param::State(ty)) => Some(Param::State(ty)),
            _ => None,
        };
    }
    match types::reference(&input.ty) {
        Some(reference) if is_message(&reference.elem) => {
            if let Some(mutability) = &reference.mutability {
                errors.at(mutability, "the message is lent to read: take `&Message`");
                return None;
            }
            Some(Param::Message(input.ty.span()))
        }
        Some(reference) if types::is_context(&reference.elem) => {
            errors.at(&input.ty, "a subscriber has no task and so no `Context`: take `meta: &Message`, which tells attempt, headers and cancellation");
            None
        }
        Some(reference) if is_called(&reference.elem, &["Delivery", "Meta", "Metadata", "MessageMeta"]) => {
            errors.at(&input.ty, "what is known of a message is in `&Message`: take `meta: &Message`");
            None
        }
        Some(reference) => {
            errors.at(
                reference.and_token,
                format!(
                    "the payload is handed over: take {} by value, or mark shared state `#[state]`",
                    owned(&reference.elem)
                ),
            );
            None
        }
        None if is_message(&input.ty) => {
            errors.at(&input.ty, "the message is lent to a subscriber: take `&Message`");
            None
        }
        None if matches!(types::peel(&input.ty), Type::ImplTrait(_)) => {
            errors.at(&input.ty, "write a concrete type in place of `impl Trait`, such as `Json<Order>`");
            None
        }
        None => Some(Param::Payload((*input.ty).clone())),
    }
}

/// What to take in place of a reference to this.
fn owned(elem: &Type) -> String {
    match types::peel(elem) {
        Type::Slice(_) => "`dtq::Bytes` or `Vec<u8>`".into(),
        Type::Path(path) if path.path.is_ident("str") => "`String`, or `Json<String>` for JSON,".into(),
        Type::Path(path)
            if ["Json", "Fields", "Bytes", "String"].iter().any(|known| types::ends_in(&path.path, known)) =>
        {
            format!("`{}`", types::plain(elem))
        }
        other => format!("`Json<{}>`", types::plain(other)),
    }
}

fn is_message(ty: &Type) -> bool {
    is_called(ty, &["Message"])
}

fn is_called(ty: &Type, names: &[&str]) -> bool {
    types::path(ty).is_some_and(|path| names.iter().any(|name| types::ends_in(path, name)))
}
