//! Lists of settings: `flag, key = value, key(..)`, the grammar of all our attributes.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::Expr;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

use crate::errors::Errors;

/// One setting.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// What stands behind a key.
pub(crate) enum Value {
    /// Nothing.
    Flag,
    /// `= expression`.
    Set(Box<Expr>),
    /// `( .. )`, with the tokens inside.
    List(TokenStream),
}

impl Entry {
    /// The key as text; `r#` does not count.
    pub(crate) fn name(&self) -> String {
        self.key.unraw().to_string()
    }

    /// The value behind `=`; else an error at the key that shows `example`, as in `queue = "high"`.
    pub(crate) fn set(&self, example: &str, errors: &mut Errors) -> Option<&Expr> {
        if let Value::Set(value) = &self.value {
            return Some(value);
        }
        errors.at(&self.key, format!("`{}` needs a value: write `{example}`", self.name()));
        None
    }
}

/// Parses a list. A setting that cannot be parsed is an error and hides no other.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut setting = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                if setting.is_empty() {
                    errors.at(&comma, "a setting is missing before this `,`: remove the `,`");
                }
                entries.extend(entry(std::mem::take(&mut setting), errors));
            }
            token => setting.push(token),
        }
    }
    entries.extend(entry(setting, errors));
    entries
}

fn entry(tokens: Vec<TokenTree>, errors: &mut Errors) -> Option<Entry> {
    let mut tokens = tokens.into_iter();
    let key = match tokens.next()? {
        TokenTree::Ident(key) => key,
        other => {
            errors.at(&other, "write settings as `key = value`");
            return None;
        }
    };
    let value = value(&key, tokens.as_slice(), errors)?;
    Some(Entry { key, value })
}

fn value(key: &Ident, tokens: &[TokenTree], errors: &mut Errors) -> Option<Value> {
    match tokens {
        [] => Some(Value::Flag),
        [TokenTree::Group(list)] if list.delimiter() == Delimiter::Parenthesis => Some(Value::List(list.stream())),
        [TokenTree::Punct(equals)] if equals.as_char() == '=' => {
            errors.at(equals, format!("the value of `{key}` is missing after this `=`"));
            None
        }
        [TokenTree::Punct(equals), TokenTree::Punct(more), ..]
            if equals.as_char() == '=' && ['=', '>'].contains(&more.as_char()) =>
        {
            errors.at(more, format!("write a single `=` between `{key}` and its value"));
            None
        }
        [TokenTree::Punct(equals), rest @ ..] if equals.as_char() == '=' => {
            let rest: TokenStream = rest.iter().cloned().collect();
            parsed(key, &rest, errors).map(|value| Value::Set(Box::new(value)))
        }
        [TokenTree::Punct(colon), ..] if colon.as_char() == ':' => {
            errors.at(colon, format!("write `=` between `{key}` and its value"));
            None
        }
        [other, ..] => {
            errors.at(other, format!("write `=` between `{key}` and its value, and `,` between settings"));
            None
        }
    }
}

fn parsed(key: &Ident, tokens: &TokenStream, errors: &mut Errors) -> Option<Expr> {
    match expression.parse2(tokens.clone()) {
        Ok(value) => return Some(value),
        // At the end of the input syn has no token to point to.
        Err(error) if error.to_string().starts_with("unexpected end") => {
            errors.at(tokens, format!("the value of `{key}` is incomplete"));
        }
        Err(error) => errors.add(error),
    }
    None
}

fn expression(input: ParseStream<'_>) -> syn::Result<Expr> {
    let value = input.parse()?;
    if input.is_empty() { Ok(value) } else { Err(input.error("write a `,` before the next setting")) }
}
