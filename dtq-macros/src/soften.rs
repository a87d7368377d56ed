//! A function beside errors: without what the compiler would complain of a second time.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{FnArg, Pat, ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::function::{self, Body, Function};
use crate::task::types;

/// The function beside errors and a stub of its type, so that no other code turns red.
pub(crate) fn beside(function: Function, errors: Errors, stub: impl FnOnce(&Function) -> TokenStream) -> TokenStream {
    let errors = errors.into_tokens_under(&function::cfgs(&function.attrs));
    // No type may stand in an `impl`, where a method is.
    let method = function.sig.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_)));
    let stub = (!method).then(|| stub(&function));
    let function = softened(function);
    quote!(#errors #function #stub)
}

/// The function, with its body as it is.
pub(crate) fn softened(mut function: Function) -> TokenStream {
    function.sig.constness = None;
    function.sig.variadic = None;
    let is_ours =
        |path: &syn::Path| path.is_ident("task") || path.segments.first().is_some_and(|first| first.ident == "dtq");
    function.attrs.retain(|attr| !is_ours(attr.path()));
    soften_types(&mut function.sig);
    rename_repeated(&mut function.sig);
    let unused = matches!(function.body, Body::Missing(_)).then(|| quote!(#[allow(unused_variables)]));
    let function = function::stripped(&function, |attr| !function::is_lint_level(attr));
    quote!(#unused #function)
}

/// Of two parameters of one name, the second loses its own.
fn rename_repeated(signature: &mut Signature) {
    let mut seen: Vec<Ident> = Vec::new();
    for input in &mut signature.inputs {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(name) = &*input.pat else { continue };
        if seen.contains(&name.ident) {
            *input.pat = Pat::Verbatim(quote!(_));
        } else {
            seen.push(name.ident.clone());
        }
    }
}

/// Parameters of no size become references; lifetimes that nobody declares become `'static`.
fn soften_types(signature: &mut Signature) {
    let declared = signature.generics.lifetimes().next().is_some();
    for input in &mut signature.inputs {
        let FnArg::Typed(input) = input else { continue };
        let ty = &input.ty;
        if types::cow(ty).is_some() {
            // An `async fn` wants the lifetime that it leaves out.
            let mut opened = false;
            let tokens = ty.to_token_stream().into_iter().flat_map(|token| {
                let opens = !opened && matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '<');
                opened |= opens;
                let lifetime = opens.then(|| quote!('_,));
                [token.into()].into_iter().chain(lifetime)
            });
            *input.ty = Type::Verbatim(tokens.collect());
        } else if types::sized(ty).is_some() {
            *input.ty = Type::Verbatim(quote!(&#ty));
        } else if !declared {
            *input.ty = Type::Verbatim(lasting(ty.to_token_stream(), false));
        }
    }
    if let ReturnType::Type(_, ty) = &mut signature.output
        && !declared
    {
        **ty = Type::Verbatim(lasting(ty.to_token_stream(), true));
    }
}

/// The type with `'static` in place of its named lifetimes and, on request, behind each bare `&`.
fn lasting(tokens: TokenStream, bare: bool) -> TokenStream {
    if tokens.to_string().contains("for <") {
        return tokens;
    }
    let mut tokens = tokens.into_iter().peekable();
    let mut out = Vec::new();
    while let Some(token) = tokens.next() {
        let is = |c| matches!(&token, TokenTree::Punct(punct) if punct.as_char() == c);
        let (quoted, borrow) = (is('\''), is('&'));
        match token {
            TokenTree::Group(group) => {
                let inner = proc_macro2::Group::new(group.delimiter(), lasting(group.stream(), bare));
                out.push(TokenTree::Group(inner));
            }
            other => out.push(other),
        }
        if quoted && let Some(TokenTree::Ident(name)) = tokens.next() {
            let name = if name == "_" { name } else { Ident::new("static", name.span()) };
            out.push(name.into());
        }
        let named = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'');
        if borrow && bare && !named {
            out.extend(syn::Lifetime::new("'static", Span::call_site()).to_token_stream());
        }
    }
    out.into_iter().collect()
}
