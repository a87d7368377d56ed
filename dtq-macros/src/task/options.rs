//! The settings of `#[dtq::task(..)]`, validated.

use std::time::Duration;

use syn::{Expr, LitStr, Path};

use super::backoff::{self, Backoff};
use super::keys::{self, IdempotencyKey, Unique};
use super::name::{self, Kind};
use super::schedule::{self, Schedule};
use crate::entries::Entry;
use crate::errors::Errors;
use crate::{suggest, values};

/// Valid settings; `None` where the user gave none.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) name: Option<String>,
    pub(crate) queue: Option<String>,
    pub(crate) priority: Option<u8>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retention: Option<Duration>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) dead_letter: Option<bool>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) permanent_if: Option<Path>,
    /// Other names it answers to.
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) unique: Option<Unique>,
    pub(crate) schedule: Schedule,
    pub(crate) krate: Option<Path>,
}

/// Each key with an example of its use.
const KEYS: [(&str, &str); 20] = [
    ("name", "name = \"charge\""),
    ("aliases", "aliases = [\"old_name\"]"),
    ("queue", "queue = \"high\""),
    ("priority", "priority = 9"),
    ("max_attempts", "max_attempts = 5"),
    ("timeout", "timeout = \"30s\""),
    ("backoff", "backoff = fixed(\"5s\")"),
    ("permanent_if", "permanent_if = is_permanent"),
    ("retention", "retention = \"1h\""),
    ("ttl", "ttl = \"1h\""),
    ("dead_letter", "dead_letter = false"),
    ("concurrency", "concurrency = 10"),
    ("idempotency_key", keys::IDEMPOTENCY_EXAMPLE),
    ("unique", keys::UNIQUE_EXAMPLE),
    ("cron", "cron = \"*/5 * * * *\""),
    ("tz", "tz = \"Europe/Berlin\""),
    ("every", "every = \"30s\""),
    ("missed", "missed = \"skip\""),
    ("overlap", "overlap = \"skip\""),
    ("crate", "crate = \"path::to::dtq\""),
];

/// What other task frameworks call things.
const SYNONYMS: [(&str, &str); 34] = [
    ("schedule", "cron"),
    ("crontab", "cron"),
    ("timezone", "tz"),
    ("zone", "tz"),
    ("interval", "every"),
    ("catch_up", "missed"),
    ("misfire", "missed"),
    ("alias", "aliases"),
    ("rename", "name"),
    ("task", "name"),
    ("fatal_if", "permanent_if"),
    ("retry_if", "permanent_if"),
    ("deadline", "timeout"),
    ("expires_in", "ttl"),
    ("result_ttl", "retention"),
    ("retries", "max_attempts"),
    ("max_retries", "max_attempts"),
    ("retry", "max_attempts"),
    ("attempts", "max_attempts"),
    ("time_limit", "timeout"),
    ("expires", "ttl"),
    ("retry_delay", "backoff"),
    ("keep_result", "retention"),
    ("dlq", "dead_letter"),
    ("max_concurrency", "concurrency"),
    ("concurrency_limit", "concurrency"),
    ("max_running", "concurrency"),
    ("key", "idempotency_key"),
    ("idempotent", "idempotency_key"),
    ("dedup", "unique"),
    ("deduplicate", "unique"),
    ("unique_by", "unique"),
    ("unique_for", "unique"),
    ("lock", "unique"),
];

/// What is no option of a task but is found elsewhere, and no slip of the pen for an option.
const ELSEWHERE: [(&str, &str); 3] = [
    ("delay", "a delay belongs to one call: write `.delay(..)` behind `enqueue(..)`"),
    ("eta", "a time belongs to one call: write `.at(..)` behind `enqueue(..)`"),
    ("rate", "tasks have no limit of their rate"),
];

pub(crate) fn validate(settings: &[Entry], errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut seen = Vec::new();
    for entry in settings {
        let name = entry.name();
        match KEYS.iter().find(|(key, _)| *key == name) {
            None => unknown(entry, &name, errors),
            Some(_) if seen.contains(&name) => {
                errors.at(&entry.key, format!("`{name}` is given twice: keep one of the two"));
            }
            Some(("idempotency_key", _)) => options.idempotency_key = keys::idempotency_key(entry, errors),
            Some(("unique", _)) => options.unique = keys::unique(entry, errors),
            Some((key, example)) => {
                if let Some(value) = entry.set(example, errors) {
                    options.set(key, value, errors);
                }
            }
        }
        seen.push(name);
    }
    compare(&options, settings, errors);
    schedule::compare(settings, errors);
    options
}

fn unknown(entry: &Entry, name: &str, errors: &mut Errors) {
    let keys = KEYS.map(|(key, _)| key);
    if let Some((_, remedy)) = ELSEWHERE.iter().find(|(other, _)| *other == name) {
        errors.at(&entry.key, format!("unknown option `{name}`: {remedy}; {}", suggest::hint("", &keys)));
        return;
    }
    let hint = match SYNONYMS.iter().find(|(other, _)| *other == name) {
        Some((_, ours)) => suggest::hint(ours, &keys),
        None => suggest::hint(name, &keys),
    };
    errors.at(&entry.key, format!("unknown option `{name}`: {hint}"));
}

impl Options {
    fn set(&mut self, key: &str, value: &Expr, errors: &mut Errors) {
        match key {
            "name" => self.name = named(Kind::Task, value, errors).map(|name| name.value()),
            "queue" => self.queue = named(Kind::Queue, value, errors).map(|name| name.value()),
            "priority" => self.priority = priority(value, errors),
            "max_attempts" => self.max_attempts = max_attempts(value, errors),
            "timeout" => {
                self.timeout = values::positive_duration(value, "leave `timeout` out to have no limit", errors);
            }
            "retention" => self.retention = values::duration(value, errors),
            "ttl" => self.ttl = values::positive_duration(value, "leave `ttl` out to never expire", errors),
            "dead_letter" => self.dead_letter = values::boolean(value, errors),
            "concurrency" => self.concurrency = concurrency(value, errors),
            "backoff" => self.backoff = backoff::validate(value, errors),
            "permanent_if" => self.permanent_if = permanent_if(value, errors),
            "aliases" => self.aliases = aliases(value, errors),
            "cron" | "tz" | "every" | "missed" | "overlap" => self.schedule.set(key, value, errors),
            _ => self.krate = values::path(value, "the path to dtq, such as `crate = \"::renamed_dtq\"`", errors),
        }
    }
}

fn named(kind: Kind, value: &Expr, errors: &mut Errors) -> Option<LitStr> {
    let wanted = match kind {
        Kind::Task => "a task name such as \"charge\"",
        Kind::Queue => "a queue name such as \"high\"",
    };
    let literal = values::string(value, wanted, errors)?;
    match name::check(kind, &literal.value()) {
        Ok(()) => Some(literal.clone()),
        Err(problem) => {
            errors.at(literal, problem);
            None
        }
    }
}

fn priority(value: &Expr, errors: &mut Errors) -> Option<u8> {
    let level = values::integer(value, 0, 9, "a priority from 0 (last) to 9 (first)", errors)?;
    u8::try_from(level).ok()
}

fn max_attempts(value: &Expr, errors: &mut Errors) -> Option<u32> {
    values::integer(value, 1, u32::MAX, "how often the task may run, 1 or more (1 means no retry)", errors)
}

fn concurrency(value: &Expr, errors: &mut Errors) -> Option<u32> {
    values::integer(value, 1, u32::MAX, "how many calls may run at once on all workers together, 1 or more", errors)
}

fn permanent_if(value: &Expr, errors: &mut Errors) -> Option<Path> {
    values::path(value, "the path of a function that takes a reference to the task's error and returns `bool`", errors)
}

fn aliases(value: &Expr, errors: &mut Errors) -> Vec<LitStr> {
    let Expr::Array(array) = values::peel(value) else {
        errors.at(value, "write a list of names: `aliases = [\"old_name\"]`");
        return Vec::new();
    };
    if array.elems.is_empty() {
        errors.at(array, "the list is empty: write the task's old names into it, or leave `aliases` out");
    }
    let mut names: Vec<LitStr> = Vec::new();
    for elem in &array.elems {
        let Some(name) = named(Kind::Task, elem, errors) else { continue };
        if names.iter().any(|other| other.value() == name.value()) {
            errors.at(&name, format!("`{}` is in the list twice: remove one of the two", name.value()));
        }
        names.push(name);
    }
    names
}

/// What no single setting is to blame for.
fn compare(options: &Options, settings: &[Entry], errors: &mut Errors) {
    let (Some(timeout), Some(ttl)) = (options.timeout, options.ttl) else { return };
    if timeout <= ttl {
        return;
    }
    let culprit = settings.iter().find(|entry| entry.name() == "timeout").and_then(|entry| entry.set("", errors));
    if let Some(value) = culprit {
        errors.at(value, "`timeout` is longer than `ttl`: shorten `timeout` or lengthen `ttl`");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::KEYS;

    /// The options that a table of a file names, in its rows: `| `queue` | ..` or `| `queue = ".."` | ..`.
    fn documented(file: &str, heading: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let lines = text.lines().map(|line| line.trim_start_matches("///").trim());
        let section = lines.skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#'));
        let rows = section.filter_map(|line| line.strip_prefix("| `"));
        let mut names: Vec<_> = rows.map(|row| row.split(['`', ' ']).next().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn every_option_is_documented_where_people_look() {
        let mut known = KEYS.map(|(key, _)| key.to_owned()).to_vec();
        known.sort();
        for (file, heading) in [("dtq/src/lib.rs", "# Options"), ("docs/tasks.md", "## Options")] {
            assert_eq!(documented(file, heading), known, "the table of options in {file}");
        }
    }
}
