//! The function under an attribute, parsed so leniently that everything wrong with it can be told at once.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Meta, Path, Safety, Signature, Token, Type, Visibility};

use crate::errors::Errors;

/// A free function; its body stays tokens, so that one with mistakes in it is reported by the compiler alone.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// What follows the signature.
#[derive(Clone)]
pub(crate) enum Body {
    Block(Group),
    /// The `;` in place of a body.
    Missing(Token![;]),
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: Attribute::parse_outer(input)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: Body::parse(input)?,
        })
    }
}

impl Body {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![;]) {
            return Ok(Self::Missing(input.parse()?));
        }
        match input.parse()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(Self::Block(group)),
            other => Err(syn::Error::new_spanned(other, "expected the function's body")),
        }
    }
}

impl ToTokens for Body {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Block(group) => group.to_tokens(tokens),
            // A body that fits every return type keeps rustc from repeating our error.
            Self::Missing(_) => tokens.extend(quote!({ ::core::unreachable!() })),
        }
    }
}

/// Parses the item under `attribute`, which is named in errors. `None` (with an error) when it is no function.
pub(crate) fn parse(item: &TokenStream, attribute: &str, errors: &mut Errors) -> Option<Function> {
    if let Some(keyword) = foreign_item(item) {
        errors.at(&keyword, format!("{attribute} goes above a function: `{keyword}` is not one; write `async fn`"));
        return None;
    }
    syn::parse2(item.clone()).map_err(|error| errors.add(error)).ok()
}

/// The keyword of an item that is not a function.
fn foreign_item(item: &TokenStream) -> Option<Ident> {
    let keyword = |input: ParseStream<'_>| {
        Attribute::parse_outer(input)?;
        input.parse::<Visibility>()?;
        let first = input.cursor().ident().map(|(ident, _)| ident);
        let qualified = is_function(input);
        input.parse::<TokenStream>()?;
        Ok(first.filter(|_| !qualified))
    };
    keyword.parse2(item.clone()).ok().flatten()
}

fn is_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !ahead.peek(Token![fn]) {
        let qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern])
            || ahead.peek(syn::LitStr);
        if !qualifier || ahead.parse::<TokenTree>().is_err() {
            return false;
        }
    }
    true
}

/// Refuses what no function of ours can be: generic, qualified, a method, without a body. `subject` names it in
/// errors, as in `a task`.
pub(crate) fn refuse_forms(function: &Function, subject: &str, errors: &mut Errors) {
    let Signature { constness, safety, abi, generics, inputs, variadic, .. } = &function.sig;
    if let Some(token) = constness {
        errors.at(token, format!("{subject} cannot be a `const fn`: remove `const`"));
    }
    if let Safety::Unsafe(token) = safety {
        errors.at(token, format!("{subject} cannot be unsafe: remove `unsafe` and put an unsafe block into the body"));
    }
    if let Some(abi) = abi {
        errors.at(abi, format!("{subject} cannot be `extern`: remove it and call the function from a plain one"));
    }
    for param in &generics.params {
        refuse_generic(param, subject, errors);
    }
    if let Some(clause) = &generics.where_clause {
        errors.at(clause.where_token, format!("{subject} is one concrete function: remove the `where` clause"));
    }
    for input in inputs {
        if let FnArg::Receiver(receiver) = input {
            errors.at(receiver.self_token, format!("{subject} cannot be a method: move it out of the `impl` or `trait` and take what it needs as arguments"));
        }
    }
    if let Some(variadic) = variadic {
        errors.at(variadic.dots, format!("{subject} cannot be variadic: take a `Vec`"));
    }
    if let Body::Missing(semicolon) = &function.body {
        errors.at(semicolon, format!("{subject} needs a body: write `{{ .. }}` in place of `;`"));
    }
}

/// Refuses the marks of a task's parameters on a function that is no task, and takes them away: the compiler would
/// complain of them again. `why` is what the function has in their place.
pub(crate) fn refuse_marks(function: &mut Function, why: &str, errors: &mut Errors) {
    let is_mark = |attr: &Attribute| attr.path().is_ident("state") || attr.path().is_ident("arg");
    for input in &mut function.sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        for attr in input.attrs.iter().filter(|attr| is_mark(attr)) {
            let mark = attr.path().to_token_stream();
            errors.at(&attr.meta, format!("`#[{mark}]` is for the parameters of tasks, and {why}: remove it"));
        }
        input.attrs.retain(|attr| !is_mark(attr));
    }
}

fn refuse_generic(param: &syn::GenericParam, subject: &str, errors: &mut Errors) {
    let (name, remedy) = match param {
        syn::GenericParam::Type(param) => (param.ident.to_string(), "write the concrete type in its place"),
        syn::GenericParam::Const(param) => {
            (param.ident.to_string(), "write the value in its place, or make it an argument")
        }
        syn::GenericParam::Lifetime(param) => {
            (param.lifetime.to_string(), "leave it out, and take owned values such as `String`")
        }
    };
    errors.at(param, format!("{subject} is one concrete function and cannot be generic over `{name}`: {remedy}"));
}

/// The function as the compiler shall see it: without the attributes of its parameters that `ours` picks.
pub(crate) fn stripped(function: &Function, ours: impl Fn(&Attribute) -> bool) -> TokenStream {
    let Function { attrs, vis, sig, body } = function;
    let mut sig = sig.clone();
    for input in &mut sig.inputs {
        match input {
            FnArg::Typed(param) => param.attrs.retain(|attr| !ours(attr)),
            FnArg::Receiver(receiver) => receiver.attrs.retain(|attr| !ours(attr)),
        }
    }
    quote!(#(#attrs)* #vis #sig #body)
}

/// True for `#[allow(..)]` and its like.
pub(crate) fn is_lint_level(attr: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|level| attr.path().is_ident(level))
}

/// The only module of dtq that generated code names, in the crate at `path`.
pub(crate) fn private(path: Option<&Path>) -> TokenStream {
    match path {
        Some(path) => quote_spanned!(at(path.span())=> #path::__private),
        None => quote!(::dtq::__private),
    }
}

/// The attributes of these names, out of `cfg_attr` too: what we generate beside a function shares its fate.
pub(crate) fn attributes(attrs: &[Attribute], names: &[&str]) -> Vec<TokenStream> {
    let metas = attrs.iter().filter_map(|attr| meta(&attr.meta, names));
    metas.map(|meta| quote!(#[#meta])).collect()
}

/// The lints that the user silenced. What was expected has come where the user wrote it, and is only allowed elsewhere.
pub(crate) fn allowed(attrs: &[Attribute]) -> Vec<TokenStream> {
    let expected = attrs.iter().filter(|attr| attr.path().is_ident("expect")).filter_map(|attr| {
        let lints = &attr.meta.require_list().ok()?.tokens;
        Some(quote!(#[allow(#lints)]))
    });
    attributes(attrs, &["allow"]).into_iter().chain(expected).collect()
}

/// The attributes that decide whether an item exists.
pub(crate) fn cfgs(attrs: &[Attribute]) -> Vec<TokenStream> {
    attributes(attrs, &["cfg"])
}

fn meta(meta: &Meta, names: &[&str]) -> Option<TokenStream> {
    if names.iter().any(|name| meta.path().is_ident(name)) {
        return Some(meta.to_token_stream());
    }
    let list = meta.require_list().ok().filter(|list| list.path.is_ident("cfg_attr"))?;
    let kept = conditional(list.tokens.clone(), names)?;
    Some(quote!(cfg_attr(#kept)))
}

/// `predicate, attribute, ..` with only the attributes of these names; `None` when there are none.
fn conditional(tokens: TokenStream, names: &[&str]) -> Option<TokenStream> {
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens).ok()?;
    let mut metas = metas.iter();
    let predicate = metas.next()?;
    let kept: Vec<_> = metas.filter_map(|inner| meta(inner, names)).collect();
    (!kept.is_empty()).then(|| quote!(#predicate, #(#kept),*))
}

/// A place of the user's for a token of ours: errors point there, while names resolve as those of all our tokens do.
/// A span of the user's own would not do: out of `macro_rules!`, it cannot see our local variables.
pub(crate) fn at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// The places of the first and the last token of what the user wrote. Tokens of ours that begin at the one and end at the
/// other are shown as the whole of it.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Moves tokens to a place of the user's.
pub(crate) fn moved(tokens: TokenStream, place: Span) -> TokenStream {
    let place = at(place);
    let moved = tokens.into_iter().map(|mut token| {
        token.set_span(place);
        token
    });
    moved.collect()
}

/// A name of the user's on an item of ours, on which lints about naming and dead code stay silent.
pub(crate) fn quiet(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(at(ident.span()));
    ident
}

/// Tokens of ours at the place of a type of the user's.
pub(crate) fn at_type(ty: &Type, tokens: TokenStream) -> TokenStream {
    moved(tokens, ty.span())
}
