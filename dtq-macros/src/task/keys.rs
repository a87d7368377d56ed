//! `idempotency_key` and `unique`.

use std::time::Duration;

use syn::Expr;

use super::template::Template;
use crate::entries::{self, Entry, Value};
use crate::errors::Errors;
use crate::{suggest, values};

/// A valid `idempotency_key`.
#[derive(Clone)]
pub(crate) struct IdempotencyKey {
    pub(crate) template: Template,
    pub(crate) keep: Option<Duration>,
}

/// A valid `unique`.
#[derive(Clone)]
pub(crate) struct Unique {
    pub(crate) template: Template,
    pub(crate) until: Until,
    /// A variant of `dtq::OnConflict`.
    pub(crate) on_conflict: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum Until {
    Started,
    Finished,
    Period(Duration),
}

pub(crate) const IDEMPOTENCY_EXAMPLE: &str = "idempotency_key = \"order-{order}\"";
pub(crate) const UNIQUE_EXAMPLE: &str = "unique = \"order-{order}\"";

const WANTED: &str = "a key over the arguments, such as \"order-{order}\",";

/// `idempotency_key = ".."` or `idempotency_key(key = "..", keep = "..")`.
pub(crate) fn idempotency_key(entry: &Entry, errors: &mut Errors) -> Option<IdempotencyKey> {
    let mut fields = Fields::gather(entry, &["key", "keep"], IDEMPOTENCY_EXAMPLE, errors)?;
    let keep = fields.take("keep");
    let keep = keep
        .and_then(|value| values::positive_duration(&value, "a key that is not remembered serves no purpose", errors));
    let template = fields.template(IDEMPOTENCY_EXAMPLE, errors)?;
    if template.arguments().next().is_none() {
        let message = "the key holds no argument, so that all calls would be one task: name one, as in \
                       \"order-{order}\"; for one task at a time, use `unique`";
        errors.at(&template.literal, message);
        return None;
    }
    Some(IdempotencyKey { template, keep })
}

/// `unique = ".."` or `unique(key = "..", until = "..", period = "..", on_conflict = "..")`.
pub(crate) fn unique(entry: &Entry, errors: &mut Errors) -> Option<Unique> {
    let known = ["key", "until", "period", "on_conflict"];
    let mut fields = Fields::gather(entry, &known, UNIQUE_EXAMPLE, errors)?;
    let before = errors.count();
    let (until, period) = (fields.take("until"), fields.take("period"));
    if let (Some(_), Some(period)) = (&until, &period) {
        errors.at(period, "a key is held either `until` a point or for a `period`: remove one of the two");
    }
    let until = match period {
        Some(period) => values::positive_duration(&period, "leave `period` out to hold the key until the end", errors)
            .map(Until::Period),
        None => one_of(until, &[("finished", Until::Finished), ("started", Until::Started)], errors),
    };
    let ways = [("skip", "Skip"), ("replace", "Replace"), ("reschedule", "Reschedule"), ("error", "Error")];
    let on_conflict = one_of(fields.take("on_conflict"), &ways, errors);
    let template = fields.template(UNIQUE_EXAMPLE, errors)?;
    (errors.count() == before).then_some(Unique { template, until: until?, on_conflict: on_conflict? })
}

/// One of the words; the first one when nothing is said.
fn one_of<T: Copy>(value: Option<Expr>, words: &[(&str, T)], errors: &mut Errors) -> Option<T> {
    let Some(value) = value else { return words.first().map(|(_, meaning)| *meaning) };
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let quoted = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let literal = values::string(&value, &format!("one of {quoted}"), errors)?;
    let word = literal.value();
    let found = words.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning);
    if found.is_none() {
        errors.at(literal, format!("unknown word {word:?}: {}", suggest::hint(&word, &names)));
    }
    found
}

/// What was given.
struct Fields<'a> {
    entry: &'a Entry,
    found: Vec<(String, Expr)>,
    /// What could not be read may have been the key.
    broken: bool,
}

impl<'a> Fields<'a> {
    fn gather(entry: &'a Entry, known: &[&str], example: &str, errors: &mut Errors) -> Option<Self> {
        let mut fields = Self { entry, found: Vec::new(), broken: false };
        match &entry.value {
            Value::Set(value) => fields.found.push(("key".into(), (**value).clone())),
            Value::Flag => {
                errors.at(&entry.key, format!("`{}` needs a value: write `{example}`", entry.name()));
                return None;
            }
            Value::List(tokens) => {
                let before = errors.count();
                let given = entries::parse(tokens.clone(), errors);
                for field in given {
                    fields.put(&field, known, errors);
                }
                fields.broken = errors.count() > before;
            }
        }
        Some(fields)
    }

    fn put(&mut self, field: &Entry, known: &[&str], errors: &mut Errors) {
        let name = field.name();
        if !known.contains(&name.as_str()) {
            errors.at(&field.key, format!("unknown field `{name}`: {}", suggest::hint(&name, known)));
        } else if self.found.iter().any(|(other, _)| *other == name) {
            errors.at(&field.key, format!("`{name}` is given twice: keep one of the two"));
        } else if let Some(value) = field.set(&format!("{name} = \"..\""), errors) {
            self.found.push((name, value.clone()));
        }
    }

    fn take(&mut self, name: &str) -> Option<Expr> {
        let at = self.found.iter().position(|(key, _)| key == name)?;
        Some(self.found.swap_remove(at).1)
    }

    fn template(&mut self, example: &str, errors: &mut Errors) -> Option<Template> {
        let Some(key) = self.take("key") else {
            if self.broken {
                return None;
            }
            let name = self.entry.name();
            errors.at(&self.entry.key, format!("`{name}` needs its `key`: write `{example}`"));
            return None;
        };
        Template::parse(values::string(&key, WANTED, errors)?, errors)
    }
}
