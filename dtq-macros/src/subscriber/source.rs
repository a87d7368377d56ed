//! Where messages come from, as it is written: `stream("orders").group("billing")`, a setting of a grammar of its own.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::errors::Errors;

/// The names of forms.
pub(crate) const FORMS: [&str; 5] = ["stream", "claiming", "reliable_list", "list", "pubsub"];

/// One form: a name with arguments, and what is chained on it.
pub(crate) struct Source {
    pub(crate) name: Ident,
    pub(crate) arguments: Group,
    pub(crate) calls: Vec<Call>,
}

/// One `.name(..)`.
pub(crate) struct Call {
    pub(crate) name: Ident,
    pub(crate) arguments: Group,
}

/// Takes the settings that are forms out of the others.
pub(crate) fn split(args: TokenStream) -> (Vec<Vec<TokenTree>>, TokenStream) {
    let (mut forms, mut rest, mut piece) = (Vec::new(), TokenStream::new(), Vec::new());
    for token in args {
        let ends = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
        if !ends {
            piece.push(token);
        } else if is_form(&piece) {
            forms.push(std::mem::take(&mut piece));
        } else {
            rest.extend(piece.drain(..));
            rest.extend([token]);
        }
    }
    if is_form(&piece) {
        forms.push(piece);
    } else {
        rest.extend(piece);
    }
    (forms, rest)
}

/// A form, or what is most likely meant to be one: something with arguments that is chained on.
fn is_form(piece: &[TokenTree]) -> bool {
    match piece {
        [TokenTree::Ident(name), ..] if FORMS.iter().any(|form| name == form) => true,
        [TokenTree::Ident(_), TokenTree::Group(list)] => text_inside(list),
        // A name alone.
        [TokenTree::Literal(_)] => true,
        [TokenTree::Ident(_), TokenTree::Group(_), TokenTree::Punct(dot), ..] => dot.as_char() == '.',
        _ => false,
    }
}

fn text_inside(list: &Group) -> bool {
    let first = list.stream().into_iter().next();
    matches!(first, Some(TokenTree::Literal(literal)) if literal.to_string().starts_with('"'))
}

/// Reads a form.
pub(crate) fn parse(tokens: Vec<TokenTree>, errors: &mut Errors) -> Option<Source> {
    let mut tokens = tokens.into_iter();
    let name = match tokens.next()? {
        TokenTree::Ident(name) => name,
        other => {
            errors.at(
                &other,
                format!(
                    "say what reads it: write a form such as `stream({other}).group(\"billing\")` or `list({other})`"
                ),
            );
            return None;
        }
    };
    let arguments = group(tokens.next(), &name, errors)?;
    let mut calls = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dot) if dot.as_char() == '.' => match tokens.next() {
                Some(TokenTree::Ident(name)) => {
                    let arguments = group(tokens.next(), &name, errors)?;
                    calls.push(Call { name, arguments });
                }
                _ => {
                    errors.at(&dot, "a name is missing behind this `.`, as in `.group(\"billing\")`");
                    return None;
                }
            },
            other => {
                errors.at(&other, "write a `.` before what is chained on, and a `,` before the next setting");
                return None;
            }
        }
    }
    Some(Source { name, arguments, calls })
}

fn group(token: Option<TokenTree>, name: &Ident, errors: &mut Errors) -> Option<Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => {
            errors.at(name, format!("write `{name}(..)` with its value in parentheses, as in `{}`", example(name)));
            None
        }
    }
}

/// A form as people write it.
pub(crate) fn example(name: &Ident) -> &'static str {
    match name.to_string().as_str() {
        "claiming" => "claiming(\"orders\").group(\"billing\").min_idle(\"60s\")",
        "reliable_list" => "reliable_list(\"jobs\").min_idle(\"60s\")",
        "list" => "list(\"jobs\")",
        "pubsub" => "pubsub(channel = \"news\")",
        _ => "stream(\"orders\").group(\"billing\")",
    }
}
