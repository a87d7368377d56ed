//! `#[cfg(..)]` and `#[cfg_attr(..)]` on parameters.
//!
//! A parameter is named in places where no `cfg` may stand, such as a tuple of types. So a function whose parameters have
//! conditions is written once for each way they can turn out, and the whole of it gets the condition.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, FnArg, Meta, Token, parse_quote};

use crate::errors::Errors;
use crate::function::Function;

/// Different conditions of one function: each doubles what is written.
const MOST: usize = 4;

/// The function for each way in which the conditions of its parameters can turn out; itself when they have none.
pub(crate) fn versions(function: Function, errors: &mut Errors) -> Vec<Function> {
    let mut versions = vec![function];
    for _ in 0..MOST {
        versions = versions.into_iter().flat_map(split).collect();
    }
    if let Some((attr, _)) = versions.iter().find_map(first) {
        let remedy = "write one function for each";
        errors.at(&attr.meta, format!("a task's parameters can have {MOST} different conditions: {remedy}"));
        versions = versions.into_iter().map(unconditional).collect();
    }
    versions
}

/// The function with its first condition, and without it.
fn split(function: Function) -> Vec<Function> {
    let Some((_, predicate)) = first(&function) else { return vec![function] };
    let text = predicate.to_string();
    let (mut with, mut without) = (function.clone(), function);
    with.attrs.push(parse_quote!(#[cfg(#predicate)]));
    without.attrs.push(parse_quote!(#[cfg(not(#predicate))]));
    with.sig.inputs = with.sig.inputs.into_iter().map(|param| met(param, &text)).collect();
    without.sig.inputs = without.sig.inputs.into_iter().filter_map(|param| unmet(param, &text)).collect();
    vec![with, without]
}

/// The function without the conditions that are left.
fn unconditional(mut function: Function) -> Function {
    for param in &mut function.sig.inputs {
        attributes_mut(param).retain(|attr| condition(attr).is_none());
    }
    function
}

/// The first condition among the parameters, and where it stands.
fn first(function: &Function) -> Option<(&Attribute, TokenStream)> {
    function.sig.inputs.iter().flat_map(attributes).find_map(|attr| Some((attr, condition(attr)?.0)))
}

fn attributes(param: &FnArg) -> &Vec<Attribute> {
    match param {
        FnArg::Typed(param) => &param.attrs,
        FnArg::Receiver(receiver) => &receiver.attrs,
    }
}

fn attributes_mut(param: &mut FnArg) -> &mut Vec<Attribute> {
    match param {
        FnArg::Typed(param) => &mut param.attrs,
        FnArg::Receiver(receiver) => &mut receiver.attrs,
    }
}

/// The parameter where the condition holds.
fn met(mut param: FnArg, condition_text: &str) -> FnArg {
    let attrs = attributes_mut(&mut param);
    *attrs = std::mem::take(attrs).into_iter().flat_map(|attr| resolved(attr, condition_text)).collect();
    param
}

/// What stands for the attribute where the condition holds, which may be repeated inside.
fn resolved(attr: Attribute, condition_text: &str) -> Vec<Attribute> {
    match condition(&attr) {
        Some((predicate, then)) if predicate.to_string() == condition_text => {
            then.into_iter().flat_map(|attr| resolved(attr, condition_text)).collect()
        }
        _ => vec![attr],
    }
}

/// The parameter where it does not hold; nothing when it was a condition of the parameter itself.
fn unmet(mut param: FnArg, condition_text: &str) -> Option<FnArg> {
    let here = |attr: &Attribute| condition(attr).is_some_and(|(predicate, _)| predicate.to_string() == condition_text);
    if attributes(&param).iter().any(|attr| attr.path().is_ident("cfg") && here(attr)) {
        return None;
    }
    attributes_mut(&mut param).retain(|attr| !here(attr));
    Some(param)
}

/// The condition of an attribute, and the attributes that stand in its place where it holds.
fn condition(attr: &Attribute) -> Option<(TokenStream, Vec<Attribute>)> {
    let list = attr.meta.require_list().ok()?;
    if list.path.is_ident("cfg") {
        return Some((list.tokens.clone(), Vec::new()));
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let mut tokens = list.tokens.clone().into_iter();
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let predicate = tokens.by_ref().take_while(|token| !comma(token)).collect();
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens.collect()).ok()?;
    Some((predicate, metas.into_iter().map(|meta| attribute(attr, meta)).collect()))
}

fn attribute(of: &Attribute, meta: Meta) -> Attribute {
    Attribute { meta, ..of.clone() }
}
