//! What can be seen of a type's suitability in its tokens alone.

use proc_macro2::{Ident, Punct, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{FnArg, GenericArgument, Path, PathArguments, Signature, Type, TypeReference};

use crate::errors::Errors;

/// The type without groups and parentheses around it.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// The path of a plain named type.
pub(crate) fn path(ty: &Type) -> Option<&Path> {
    match peel(ty) {
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        _ => None,
    }
}

/// True for a type named `Context`, by whatever path.
pub(crate) fn is_context(ty: &Type) -> bool {
    path(ty).and_then(|path| path.segments.last()).is_some_and(|last| last.ident == "Context")
}

/// True for a path whose last name is this.
pub(crate) fn ends_in(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// The reference that the type is.
pub(crate) fn reference(ty: &Type) -> Option<&TypeReference> {
    match peel(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// Refuses the types that a payload argument cannot have, at each token that makes it so.
pub(crate) fn check_argument(ty: &Type, errors: &mut Errors) {
    if let Some(reference) = reference(ty) {
        let owned = owned(&reference.elem);
        let state = match path(&reference.elem) {
            Some(_) => ", or mark it `#[state]` if it is shared state",
            None => "",
        };
        errors.at(
            reference.and_token,
            format!("a task's arguments are stored, so it cannot borrow them: take {owned}{state}"),
        );
        return;
    }
    if let Some(sized) = sized(ty) {
        errors.at(ty, format!("a task owns its arguments, and this type has no size: take {sized}"));
        return;
    }
    if let Some(owned) = cow(ty) {
        errors.at(ty, format!("a task's arguments are stored, so they cannot borrow: take {owned}"));
        return;
    }
    walk(ty.to_token_stream(), &mut |odd| argument_problem(odd, errors));
}

/// What to take in place of a `Cow<T>` that leaves its lifetime out: a function may, and the task's type may not.
pub(crate) fn cow(ty: &Type) -> Option<String> {
    let last = path(ty)?.segments.last().filter(|last| last.ident == "Cow")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.iter().collect::<Vec<_>>().as_slice() {
        [GenericArgument::Type(borrowed)] => Some(owned(borrowed)),
        _ => None,
    }
}

/// What to take in place of a type that has no size, as far as tokens tell.
pub(crate) fn sized(ty: &Type) -> Option<String> {
    match peel(ty) {
        Type::Slice(slice) => Some(format!("`Vec<{}>`", plain(&slice.elem))),
        Type::Path(path) if path.path.is_ident("str") => Some("`String`".into()),
        Type::TraitObject(_) => Some("a concrete type".into()),
        _ => None,
    }
}

fn argument_problem(odd: Odd<'_>, errors: &mut Errors) {
    match odd {
        Odd::Reference(and) => {
            errors.at(and, "a task's arguments are stored, so they cannot borrow: write the owned type, such as `String` for `&str`");
        }
        Odd::Impl(word) => errors.at(word, "`impl Trait` has no name to store it by: write a concrete type"),
        Odd::Infer(word) => errors.at(word, "write the type out: `_` is not allowed here"),
        Odd::SelfType(word) => errors.at(word, "a task stands outside of any `impl`: write the type's name"),
        Odd::Anonymous(word) => {
            errors.at(word, "a task's arguments are stored, so they cannot borrow: write `'static`, or an owned type");
        }
        // Told of for the whole signature.
        Odd::Named(_) => {}
    }
}

/// The owned form of what stands behind a `&`.
fn owned(elem: &Type) -> String {
    match peel(elem) {
        Type::Slice(slice) => format!("`Vec<{}>`", plain(&slice.elem)),
        Type::Path(path) if path.path.is_ident("str") => "`String`".into(),
        Type::Path(path) if path.path.is_ident("Path") => "`PathBuf`".into(),
        Type::TraitObject(_) | Type::ImplTrait(_) => "a concrete owned type".into(),
        other => format!("`{}` by value", plain(other)),
    }
}

/// A type as its user writes it. Tokens print with spaces between them.
pub(crate) fn plain(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ","), ("& ", "&"), ("< ", "<"), (" <", "<")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

/// Refuses the return types that a task cannot have.
pub(crate) fn check_return(ty: &Type, errors: &mut Errors) {
    if let Type::Never(never) = peel(ty) {
        errors.at(never, "a task's result is stored when it returns: return `()` in place of `!`");
        return;
    }
    if let Some(reference) = reference(ty) {
        let owned = owned(&reference.elem);
        errors.at(reference.and_token, format!("a task's result is stored, so it cannot be borrowed: return {owned}"));
        return;
    }
    if refuse_future(ty, errors) {
        return;
    }
    for and in elided(ty.to_token_stream()) {
        errors.at(
            and,
            "a task's result is stored, so it cannot borrow: write the owned type, such as `String` for `&str`",
        );
    }
    walk(ty.to_token_stream(), &mut |odd| match odd {
        Odd::Impl(word) => {
            errors.at(word, "a task's result is stored by its type: write a concrete type in place of `impl Trait`");
        }
        Odd::Infer(word) => errors.at(word, "write the type out: `_` is not allowed here"),
        Odd::SelfType(word) => errors.at(word, "a task stands outside of any `impl`: write the type's name"),
        // Whether a result may hold references is for its traits to say: an error type of `&'static str`, say.
        Odd::Reference(_) | Odd::Anonymous(_) | Odd::Named(_) => {}
    });
}

/// Refuses a future as a result: whoever returns one has left out `async`.
fn refuse_future(ty: &Type, errors: &mut Errors) -> bool {
    let future =
        |path: &Path| path.segments.last().is_some_and(|last| last.ident == "Pin" || last.ident == "BoxFuture");
    let words = ty.to_token_stream().to_string();
    let is_one = path(ty).is_some_and(future) && words.contains("Future");
    if is_one {
        errors
            .at(ty, "a future cannot be stored as a task's result: write `async fn`, and return what the future gives");
    }
    is_one
}

/// Each `&` without a lifetime behind it.
fn elided(tokens: TokenStream) -> Vec<Punct> {
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => found.extend(elided(group.stream())),
            TokenTree::Punct(and) if and.as_char() == '&' => {
                let named = matches!(tokens.peek(), Some(TokenTree::Punct(quote)) if quote.as_char() == '\'');
                found.extend((!named).then_some(and));
            }
            _ => {}
        }
    }
    found
}

/// True for a type that names a lifetime other than `'static`.
pub(crate) fn names_lifetime(ty: &Type) -> bool {
    let mut named = false;
    walk(ty.to_token_stream(), &mut |odd| named |= matches!(odd, Odd::Named(_)));
    named
}

/// True for a type in which one of the names stands.
pub(crate) fn names_any(ty: &Type, names: &[String]) -> bool {
    fn stands(tokens: TokenStream, names: &[String]) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => stands(group.stream(), names),
            TokenTree::Ident(word) => names.contains(&word.to_string()),
            _ => false,
        })
    }
    stands(ty.to_token_stream(), names)
}

/// Refuses lifetimes that nobody declares. (Declared ones are refused where they are declared.)
pub(crate) fn refuse_undeclared(signature: &Signature, errors: &mut Errors) {
    if signature.generics.lifetimes().next().is_some() {
        return;
    }
    let params = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(input.ty.to_token_stream()),
        FnArg::Receiver(_) => None,
    });
    let types = params.chain([signature.output.to_token_stream()]);
    // Those of `for<'a> fn(&'a T)` are declared in the type itself.
    for ty in types.filter(|ty| !ty.to_string().contains("for <")) {
        walk(ty, &mut |odd| {
            if let Odd::Named(name) = odd {
                errors.at(
                    name,
                    format!("`'{name}` is declared nowhere, and a task cannot be generic over it: write an owned type, or no lifetime for context and state"),
                );
            }
        });
    }
}

/// A token that tells something of a type.
#[derive(Clone, Copy)]
enum Odd<'a> {
    Reference(&'a Punct),
    Impl(&'a Ident),
    Infer(&'a Ident),
    SelfType(&'a Ident),
    Anonymous(&'a Ident),
    Named(&'a Ident),
}

/// Shows the telling tokens of a type. Lifetimes behind a `&` belong to it; named ones are told of where they are
/// declared, and `'static` is fine.
fn walk(tokens: TokenStream, tell: &mut impl FnMut(Odd<'_>)) {
    let mut borrowed = false;
    let mut quoted = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => walk(group.stream(), tell),
            TokenTree::Punct(punct) if punct.as_char() == '&' => tell(Odd::Reference(punct)),
            TokenTree::Ident(word) if quoted => lifetime(word, borrowed, tell),
            TokenTree::Ident(word) => keyword(word, tell),
            _ => {}
        }
        let punct = |c| matches!(&token, TokenTree::Punct(punct) if punct.as_char() == c);
        quoted = punct('\'');
        borrowed = punct('&') || borrowed && quoted;
    }
}

fn lifetime(name: &Ident, borrowed: bool, tell: &mut impl FnMut(Odd<'_>)) {
    match name.to_string().as_str() {
        // That of a reference is told of with its `&`.
        "_" if !borrowed => tell(Odd::Anonymous(name)),
        "_" | "static" => {}
        _ => tell(Odd::Named(name)),
    }
}

fn keyword(word: &Ident, tell: &mut impl FnMut(Odd<'_>)) {
    match word.to_string().as_str() {
        "impl" => tell(Odd::Impl(word)),
        "_" => tell(Odd::Infer(word)),
        "Self" => tell(Odd::SelfType(word)),
        _ => {}
    }
}
