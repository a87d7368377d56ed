//! The settings of `#[dtq::subscriber(..)]` beside the form, validated.

use std::time::Duration;

use syn::{Expr, LitStr, Path};

use super::form::{Form, Kind};
use crate::entries::Entry;
use crate::errors::Errors;
use crate::task::backoff::{self, Backoff};
use crate::{suggest, values};

/// Valid settings; `None` where the user gave none.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<String>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) permanent_if: Option<Path>,
    pub(crate) dead_letter: Option<String>,
    pub(crate) delayed_retry: Option<DelayedRetry>,
    pub(crate) ordered_by: Option<String>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) krate: Option<Path>,
}

pub(crate) enum DelayedRetry {
    InProcess,
    Durable { ttl: Option<Duration> },
}

/// Each key with an example of its use.
const KEYS: [(&str, &str); 10] = [
    ("name", "name = \"orders\""),
    ("max_attempts", "max_attempts = 5"),
    ("timeout", "timeout = \"30s\""),
    ("backoff", "backoff = fixed(\"5s\")"),
    ("permanent_if", "permanent_if = is_permanent"),
    ("dead_letter", "dead_letter = \"orders.dead\""),
    ("delayed_retry", "delayed_retry = durable"),
    ("ordered_by", "ordered_by = \"{customer}\""),
    ("concurrency", "concurrency = 8"),
    ("crate", "crate = \"path::to::dtq\""),
];

/// What other frameworks call things.
const SYNONYMS: [(&str, &str); 8] = [
    ("dlq", "dead_letter"),
    ("dead_letter_queue", "dead_letter"),
    ("retries", "max_attempts"),
    ("max_retries", "max_attempts"),
    ("max_deliver", "max_attempts"),
    ("key", "ordered_by"),
    ("partition_by", "ordered_by"),
    ("workers", "concurrency"),
];

/// What belongs to the form.
const OF_THE_FORM: [&str; 8] = ["group", "start", "min_idle", "payload", "headers", "trim", "back_to", "channel"];

/// What tasks have, and why messages have not.
const OF_TASKS: [(&str, &str); 12] = [
    ("queue", "the form says where messages come from"),
    ("priority", "messages come in the order of their source"),
    ("ttl", "whoever writes the messages decides how long they are kept"),
    ("retention", "a message has no record and no result"),
    ("aliases", "messages are found by their source and not by a name"),
    ("unique", "let the subscriber enqueue a unique task"),
    ("idempotency_key", "let the subscriber enqueue a task with a key"),
    ("cron", "a subscriber runs when a message comes"),
    ("every", "a subscriber runs when a message comes"),
    ("tz", "a subscriber runs when a message comes"),
    ("missed", "a subscriber runs when a message comes"),
    ("overlap", "a subscriber runs when a message comes"),
];

pub(crate) fn validate(settings: &[Entry], form: Option<&Form>, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut seen = Vec::new();
    for entry in settings {
        let name = entry.name();
        match KEYS.iter().find(|(key, _)| *key == name) {
            None => unknown(entry, &name, errors),
            Some(_) if seen.contains(&name) => {
                errors.at(&entry.key, format!("`{name}` is given twice: keep one of the two"));
            }
            Some((key, example)) => {
                if let Some(value) = entry.set(example, errors) {
                    options.set(key, value, form, errors);
                }
            }
        }
        seen.push(name);
    }
    options
}

fn unknown(entry: &Entry, name: &str, errors: &mut Errors) {
    let keys = KEYS.map(|(key, _)| key);
    if OF_THE_FORM.contains(&name) {
        errors.at(
            &entry.key,
            format!("`{name}` belongs to the form: chain it there, as in `stream(\"orders\").{name}(..)`"),
        );
        return;
    }
    if let Some((_, why)) = OF_TASKS.iter().find(|(other, _)| *other == name) {
        errors.at(&entry.key, format!("`{name}` is an option of tasks: {why}; remove it here"));
        return;
    }
    let meant = SYNONYMS.iter().find(|(other, _)| *other == name).map_or(name, |(_, ours)| ours);
    errors.at(&entry.key, format!("unknown option `{name}`: {}", suggest::hint(meant, &keys)));
}

impl Options {
    fn set(&mut self, key: &str, value: &Expr, form: Option<&Form>, errors: &mut Errors) {
        match key {
            "name" => self.name = text(value, "a name such as \"orders\"", errors).map(|name| name.value()),
            "max_attempts" => {
                let wanted = "how often a message may be tried, 1 or more (1 means no retry)";
                self.max_attempts = values::integer(value, 1, u32::MAX, wanted, errors);
            }
            "timeout" => {
                self.timeout = values::positive_duration(value, "leave `timeout` out to have no limit", errors);
            }
            "backoff" => self.backoff = backoff::validate(value, errors),
            "permanent_if" => {
                let wanted =
                    "the path of a function that takes a reference to the subscriber's error and returns `bool`";
                self.permanent_if = values::path(value, wanted, errors);
            }
            "dead_letter" => self.dead_letter = dead_letter(value, form, errors),
            "delayed_retry" => self.delayed_retry = delayed_retry(value, form, errors),
            "ordered_by" => self.ordered_by = ordered_by(value, errors),
            "concurrency" => {
                let wanted = "how many messages a worker may hold, 1 or more";
                self.concurrency = values::integer(value, 1, u32::MAX, wanted, errors);
            }
            _ => self.krate = values::path(value, "the path to dtq, such as `crate = \"::renamed_dtq\"`", errors),
        }
    }
}

fn text(value: &Expr, wanted: &str, errors: &mut Errors) -> Option<LitStr> {
    let literal = values::string(value, wanted, errors)?;
    if literal.value().is_empty() {
        errors.at(literal, format!("it is empty: write {wanted}"));
        return None;
    }
    Some(literal.clone())
}

fn dead_letter(value: &Expr, form: Option<&Form>, errors: &mut Errors) -> Option<String> {
    let kind = match form.map(|form| &form.kind) {
        Some(Kind::ReliableList { .. } | Kind::List { .. }) => "list",
        Some(Kind::PubSub { .. }) => "channel",
        _ => "stream",
    };
    let literal = text(value, &format!("the {kind} that takes what is given up, such as \"orders.dead\""), errors)?;
    let source = match form.map(|form| &form.kind) {
        Some(Kind::Stream(stream) | Kind::Claiming(stream)) => Some(&stream.key),
        Some(Kind::ReliableList { key, .. } | Kind::List { key }) => Some(key),
        _ => None,
    };
    if source == Some(&literal.value()) {
        errors.at(&literal, "dead letters would be read again: name another place than where messages come from");
        return None;
    }
    Some(literal.value())
}

fn delayed_retry(value: &Expr, form: Option<&Form>, errors: &mut Errors) -> Option<DelayedRetry> {
    const WANTED: &str = "write `durable`, `durable(ttl = \"7d\")` or `in_process`";
    let way = match values::peel(value) {
        Expr::Path(path) if path.path.is_ident("durable") => Some(DelayedRetry::Durable { ttl: None }),
        Expr::Path(path) if path.path.is_ident("in_process") => Some(DelayedRetry::InProcess),
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("durable")) => {
            match call.args.iter().collect::<Vec<_>>().as_slice() {
                [Expr::Assign(ttl)] if matches!(&*ttl.left, Expr::Path(path) if path.path.is_ident("ttl")) => {
                    let ttl = values::positive_duration(&ttl.right, "leave `ttl` out to keep copies for ever", errors)?;
                    return refuse_way(DelayedRetry::Durable { ttl: Some(ttl) }, value, form, errors);
                }
                _ => None,
            }
        }
        _ => None,
    };
    match way {
        Some(way) => refuse_way(way, value, form, errors),
        None => {
            errors.at(value, WANTED);
            None
        }
    }
}

fn refuse_way(way: DelayedRetry, value: &Expr, form: Option<&Form>, errors: &mut Errors) -> Option<DelayedRetry> {
    match (&way, form.map(|form| &form.kind)) {
        (_, Some(Kind::Claiming(_))) => {
            errors.at(
                value,
                "a claiming subscription leaves the message pending until it is due: remove `delayed_retry`",
            );
            None
        }
        (DelayedRetry::Durable { .. }, Some(Kind::PubSub { .. })) => {
            errors
                .at(value, "a channel keeps nothing, and neither do its copies: write `in_process`, or read a stream");
            None
        }
        _ => Some(way),
    }
}

fn ordered_by(value: &Expr, errors: &mut Errors) -> Option<String> {
    let literal = values::string(value, "a template such as \"{customer}\"", errors)?;
    if let Err(problem) = check_template(&literal.value()) {
        errors.at(literal, problem);
        return None;
    }
    Some(literal.value())
}

/// The rule that the library has at run time, too.
fn check_template(template: &str) -> Result<(), &'static str> {
    let (mut fields, mut rest) = (0, template);
    while let Some((_, behind)) = rest.split_once('{') {
        let (field, behind) = behind.split_once('}').ok_or("a `{` has no `}` behind it")?;
        if field.is_empty() || field.contains('{') {
            return Err("write the name of a field between `{` and `}`, such as \"{customer}\"");
        }
        fields += 1;
        rest = behind;
    }
    if fields == 0 {
        return Err("the template names no field: write one in braces, such as \"{customer}\"");
    }
    Ok(())
}
