//! The parameters of a task's function: context, shared state, payload.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Lit, Meta, Pat, PatType, Type, TypeReference};

use super::types;
use crate::entries::{self, Entry, Value};
use crate::errors::Errors;
use crate::{function, suggest, values};

/// A valid parameter, in the order of the function.
pub(crate) enum Param {
    /// `ctx: &Context`, with the place of its type.
    Context(Span),
    /// `#[state] x: &T`, with `T`.
    State(Type),
    /// Anything else: part of the payload.
    Argument(Argument),
}

/// A part of the payload.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// `#[arg(default)]`.
    pub(crate) default: bool,
    /// `#[arg(alias = "..")]`, any number.
    pub(crate) aliases: Vec<String>,
    /// Its documentation.
    pub(crate) docs: Vec<Attribute>,
}

/// True for the attributes of parameters that the compiler must not see.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    ["state", "arg", "doc"].iter().any(|known| attr.path().is_ident(known))
}

/// Validates all parameters. Receivers are refused elsewhere.
pub(crate) fn validate<'a>(inputs: impl Iterator<Item = &'a FnArg>, errors: &mut Errors) -> Vec<Param> {
    let mut params = Vec::new();
    let mut contexts = 0;
    for input in inputs {
        let FnArg::Typed(input) = input else { continue };
        let Some(param) = param(input, errors) else { continue };
        if matches!(param, Param::Context(_)) {
            contexts += 1;
            if contexts > 1 {
                errors.at(&input.ty, "a task has one context: remove this parameter");
            }
        }
        params.push(param);
    }
    check_names(&params, errors);
    params
}

/// One parameter.
pub(crate) fn param(input: &PatType, errors: &mut Errors) -> Option<Param> {
    check_attributes(input, errors);
    let ident = ident(&input.pat, errors);
    if let Some(mark) = find(input, "state") {
        return state(mark, input, errors);
    }
    if let Some(reference) = types::reference(&input.ty).filter(|reference| types::is_context(&reference.elem)) {
        refuse_args(input, "the context", errors);
        return shared(reference, "the context", errors).map(|_| Param::Context(input.ty.span()));
    }
    if types::path(&input.ty).is_some_and(is_our_context) {
        errors.at(&input.ty, "the context is lent to a task: take `&Context` (for a type of your own, write its path, such as `self::Context`)");
        return None;
    }
    argument(ident?, input, errors).map(Param::Argument)
}

fn is_our_context(path: &syn::Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    matches!(
        names.iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
        ["Context"] | ["dtq", "Context"] | ["dtq", "prelude", "Context"]
    )
}

fn find<'a>(input: &'a PatType, name: &str) -> Option<&'a Attribute> {
    input.attrs.iter().find(|attr| attr.path().is_ident(name))
}

/// The plain name that a parameter must have, for it is also its name in the stored payload.
fn ident(pat: &Pat, errors: &mut Errors) -> Option<Ident> {
    let Pat::Ident(name) = pat else {
        errors.at(pat, "use a plain name: it is also the argument's name in the payload; take it apart in the body");
        return None;
    };
    if let Some(by_ref) = &name.by_ref {
        errors.at(by_ref, "use a plain name: remove `ref`");
        return None;
    }
    if let Some((at, _)) = &name.subpat {
        errors.at(at, "use a plain name: remove `@` and the pattern behind it");
        return None;
    }
    Some(name.ident.clone())
}

fn state(mark: &Attribute, input: &PatType, errors: &mut Errors) -> Option<Param> {
    if !matches!(mark.meta, Meta::Path(_)) {
        errors.at(&mark.meta, "`#[state]` takes no settings: write `#[state]`");
    }
    refuse_args(input, "shared state", errors);
    let Some(reference) = types::reference(&input.ty) else {
        let lent = types::plain(&input.ty);
        // What holds a reference is not what set-up gave.
        let lent = if lent.contains('&') { "T` of what set-up gave, by itself".into() } else { format!("{lent}`") };
        errors.at(&input.ty, format!("shared state is lent to a task: take `&{lent}"));
        return None;
    };
    let elem = shared(reference, "shared state", errors)?;
    if let Some(remedy) = unsized_remedy(elem) {
        errors.at(elem, format!("shared state is found by its type, which must have a size: take {remedy}"));
        return None;
    }
    Some(Param::State(elem.clone()))
}

fn unsized_remedy(elem: &Type) -> Option<String> {
    match types::peel(elem) {
        Type::TraitObject(_) => Some(format!("`&Arc<{}>`", types::plain(elem))),
        Type::Slice(slice) => Some(format!("`&Vec<{}>`", types::plain(&slice.elem))),
        Type::ImplTrait(_) => Some("a concrete type".into()),
        Type::Path(path) if path.path.is_ident("str") => Some("`&String`".into()),
        _ => None,
    }
}

/// What a reference to context or state points to; it is shared and has no lifetime of its own.
fn shared<'a>(reference: &'a TypeReference, what: &str, errors: &mut Errors) -> Option<&'a Type> {
    let elem = types::plain(&reference.elem);
    if let Some(mutability) = &reference.mutability {
        errors.at(
            mutability,
            format!(
                "{what} is shared between handlers: take `&{elem}` (with a `Mutex` or an atomic inside to change it)"
            ),
        );
        return None;
    }
    // A declared lifetime is refused where it is declared.
    if let Some(lifetime) = reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static") {
        errors.at(lifetime, format!("{what} is lent for the time of the call only: take `&{elem}`"));
        return None;
    }
    Some(&reference.elem)
}

fn refuse_args(input: &PatType, what: &str, errors: &mut Errors) {
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        errors.at(&attr.meta, format!("`#[arg]` is for payload arguments and this is {what}: remove it"));
    }
}

fn argument(ident: Ident, input: &PatType, errors: &mut Errors) -> Option<Argument> {
    let before = errors.count();
    types::check_argument(&input.ty, errors);
    let docs = input.attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect();
    let mut argument = Argument { ident, ty: (*input.ty).clone(), default: false, aliases: Vec::new(), docs };
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        read_arg(attr, &mut argument, errors);
    }
    (errors.count() == before).then_some(argument)
}

const ARG_KEYS: [&str; 2] = ["default", "alias"];

fn read_arg(attr: &Attribute, argument: &mut Argument, errors: &mut Errors) {
    let Ok(list) = attr.meta.require_list() else {
        errors.at(&attr.meta, "write `#[arg(default)]` or `#[arg(alias = \"old_name\")]`");
        return;
    };
    for entry in entries::parse(list.tokens.clone(), errors) {
        match entry.name().as_str() {
            "default" => argument.default = default(&entry, argument.default, errors),
            "alias" => argument.aliases.extend(alias(&entry, errors)),
            other => {
                errors.at(&entry.key, format!("unknown setting `{other}`: {}", suggest::hint(other, &ARG_KEYS)));
            }
        }
    }
}

fn default(entry: &Entry, already: bool, errors: &mut Errors) -> bool {
    if already {
        errors.at(&entry.key, "`default` is given twice: keep one of the two");
    } else if !matches!(entry.value, Value::Flag) {
        errors.at(&entry.key, "`default` takes no value: write `#[arg(default)]`; the type's `Default` is used");
    }
    true
}

fn alias(entry: &Entry, errors: &mut Errors) -> Option<String> {
    let value = entry.set("alias = \"old_name\"", errors)?;
    let literal = values::string(value, "the argument's old name", errors)?;
    if literal.value().is_empty() {
        errors.at(literal, "the alias is empty: write the argument's old name");
        return None;
    }
    Some(literal.value())
}

/// Two parts of the payload that answer to one name could not be told apart.
fn check_names(params: &[Param], errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    let arguments = || {
        params.iter().filter_map(|param| match param {
            Param::Argument(argument) => Some(argument),
            _ => None,
        })
    };
    for argument in arguments() {
        let name = argument.ident.unraw().to_string();
        if seen.contains(&name) {
            errors.at(&argument.ident, format!("`{name}` is already the name of an argument: choose another"));
        }
        seen.push(name);
    }
    for argument in arguments() {
        for alias in &argument.aliases {
            if seen.contains(alias) {
                errors.at(
                    &argument.ident,
                    format!("the alias `{alias}` is already a name of an argument: choose another, or remove it"),
                );
            }
            seen.push(alias.clone());
        }
    }
}

/// Attributes of parameters that would not reach the generated type, or that look like a slip of the pen.
fn check_attributes(input: &PatType, errors: &mut Errors) {
    for mark in ["state"] {
        for again in input.attrs.iter().filter(|attr| attr.path().is_ident(mark)).skip(1) {
            errors.at(&again.meta, format!("`#[{mark}]` is given twice: keep one of the two"));
        }
    }
    for attr in &input.attrs {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else { continue };
        match name.as_str() {
            // Well-formed ones are gone by now.
            "cfg" => errors.at(&attr.meta, "write the condition: `#[cfg(..)]`"),
            "cfg_attr" => errors.at(&attr.meta, "write a condition and attributes: `#[cfg_attr(.., arg(default))]`"),
            "state" | "arg" | "doc" => {}
            _ if function::is_lint_level(attr) => {}
            "serde" => errors.at(
                &attr.meta,
                "`#[serde]` on a parameter is not supported: write `#[arg(default)]` or `#[arg(alias = \"old_name\")]`",
            ),
            other => suggest_mark(attr, other, errors),
        }
    }
}

fn suggest_mark(attr: &Attribute, name: &str, errors: &mut Errors) {
    if let Some(known) = suggest::nearest(name, &["state", "arg"]) {
        errors.at(&attr.meta, format!("unknown attribute `{name}`: did you mean `#[{known}]`?"));
    }
}

/// True for a documentation attribute of text.
pub(crate) fn doc_text(attr: &Attribute) -> Option<String> {
    let pair = attr.meta.require_name_value().ok().filter(|pair| pair.path.is_ident("doc"))?;
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
