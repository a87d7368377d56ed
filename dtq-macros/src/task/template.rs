//! Templates of keys: text with the names of arguments in braces, as in `"order-{order}"`.

use syn::LitStr;
use syn::ext::IdentExt;

use super::params::Param;
use crate::errors::Errors;
use crate::suggest;

/// The most bytes that a key may have: the same as `dtq::types::MAX_KEY`.
const LONGEST: usize = 512;

/// A piece of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// The name of an argument.
    Argument(String),
}

/// A template whose braces are in order.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) literal: LitStr,
    pub(crate) pieces: Vec<Piece>,
}

impl Template {
    pub(crate) fn parse(literal: &LitStr, errors: &mut Errors) -> Option<Self> {
        let pieces = pieces(&literal.value()).map_err(|problem| errors.at(literal, problem)).ok()?;
        let text = pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.len() } else { 0 }).sum::<usize>();
        if pieces.is_empty() {
            errors.at(literal, "the key is empty: write one of the arguments, such as \"order-{order}\"");
        } else if text > LONGEST {
            errors.at(literal, format!("the key has {text} bytes before its arguments: a key has at most {LONGEST}"));
        } else {
            return Some(Self { literal: literal.clone(), pieces });
        }
        None
    }

    /// The names of arguments in it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// True when each name in it is that of an argument; else says which is not.
    pub(crate) fn fits(&self, params: &[Param], errors: &mut Errors) -> bool {
        let known: Vec<String> = params
            .iter()
            .filter_map(|param| match param {
                Param::Argument(argument) => Some(argument.ident.unraw().to_string()),
                _ => None,
            })
            .collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let before = errors.count();
        for name in self.arguments().filter(|name| !known.contains(name)) {
            let hint = match known.is_empty() {
                true => "it has none".to_owned(),
                false => suggest::hint(name, &known),
            };
            errors.at(&self.literal, format!("`{name}` is no argument of the task's payload: {hint}"));
        }
        errors.count() == before
    }
}

fn pieces(template: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let (brace, behind) = rest[at..].split_at(1);
        if let Some(behind) = behind.strip_prefix(brace) {
            text.push_str(brace);
            rest = behind;
            continue;
        }
        if brace == "}" {
            return Err("a `}` without its `{`: write `}}` for a brace in the key".to_owned());
        }
        let Some((name, behind)) = behind.split_once('}') else {
            return Err("a `{` without its `}`: write `{{` for a brace in the key".to_owned());
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Argument(argument(name)?));
        rest = behind;
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

fn argument(name: &str) -> Result<String, String> {
    let name = name.trim();
    if let Some((argument, _)) = name.split_once(':') {
        return Err(format!(
            "a key takes no format: write `{{{}}}`; the argument's `Display` is used",
            argument.trim()
        ));
    }
    let plain = name.strip_prefix("r#").unwrap_or(name);
    let first = plain.chars().next();
    if first.is_none_or(|first| first.is_ascii_digit()) {
        return Err("name an argument between the braces, such as `{order}`".to_owned());
    }
    if !plain.chars().all(|char| char == '_' || char.is_alphanumeric()) {
        return Err(format!("`{name}` is no name of an argument: a key takes whole arguments, by their names"));
    }
    Ok(plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    fn name(name: &str) -> Piece {
        Piece::Argument(name.into())
    }

    #[test]
    fn text_and_arguments_are_told_apart() {
        assert_eq!(pieces("order-{order}").unwrap(), [text("order-"), name("order")]);
        assert_eq!(pieces("{a}{ b }/{r#type}").unwrap(), [name("a"), name("b"), text("/"), name("type")]);
        assert_eq!(pieces("{{{a}}}").unwrap(), [text("{"), name("a"), text("}")]);
        assert_eq!(pieces("é{{}}\0").unwrap(), [text("é{}\0")]);
        assert_eq!(pieces("").unwrap(), []);
    }

    #[test]
    fn what_is_no_template_is_refused_with_what_to_write() {
        for (template, words) in [
            ("a}", "`}}`"),
            ("{a", "`{{`"),
            ("{{{a", "`{{`"),
            ("{}", "name an argument"),
            ("{0}", "name an argument"),
            ("{a:?}", "write `{a}`"),
            ("{a:03}", "takes no format"),
            ("{a.id}", "whole arguments"),
            ("{a{b}", "whole arguments"),
        ] {
            let problem = pieces(template).unwrap_err();
            assert!(problem.contains(words), "{template}: {problem}");
        }
    }
}
