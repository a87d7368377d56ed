//! The settings that make a schedule: `cron`, `tz`, `every`, `missed`, `overlap`.

use std::time::Duration;

use syn::{Expr, LitStr};

use super::cron;
use super::zones;
use crate::entries::Entry;
use crate::errors::Errors;
use crate::{suggest, values};

/// The shortest interval.
const SHORTEST: Duration = Duration::from_secs(1);

/// What was given, each by itself valid.
#[derive(Clone, Default)]
pub(crate) struct Schedule {
    pub(crate) cron: Option<LitStr>,
    pub(crate) zone: Option<LitStr>,
    pub(crate) every: Option<Duration>,
    pub(crate) missed: Option<&'static str>,
    pub(crate) overlap: Option<&'static str>,
}

impl Schedule {
    /// Takes one setting.
    pub(crate) fn set(&mut self, key: &str, value: &Expr, errors: &mut Errors) {
        match key {
            "cron" => self.cron = expression(value, errors),
            "tz" => self.zone = zone(value, errors),
            "every" => self.every = interval(value, errors),
            "missed" => {
                let meanings = [("skip", "Skip"), ("once", "Once"), ("all", "All")];
                self.missed = choice(value, &meanings, errors);
            }
            _ => self.overlap = choice(value, &[("allow", "Allow"), ("skip", "Skip")], errors),
        }
    }

    /// True when the task is scheduled.
    pub(crate) fn is_given(&self) -> bool {
        self.cron.is_some() || self.every.is_some()
    }
}

/// What no single setting is to blame for.
pub(crate) fn compare(settings: &[Entry], errors: &mut Errors) {
    let find = |name: &str| settings.iter().find(|entry| entry.name() == name);
    let (cron, every) = (find("cron"), find("every"));
    if let (Some(_), Some(every)) = (cron, every) {
        errors.at(&every.key, "a task has one schedule: write `cron` or `every`, or add the other one at run time");
    }
    if let Some(tz) = find("tz").filter(|_| cron.is_none()) {
        let remedy = match every {
            Some(_) => "an interval is the same in every zone: remove `tz`",
            None => "write `cron = \"..\"` beside it",
        };
        errors.at(&tz.key, format!("`tz` is the zone of a cron expression: {remedy}"));
    }
    for name in ["unique", "idempotency_key"] {
        if let Some(entry) = find(name).filter(|_| cron.is_some() || every.is_some()) {
            errors.at(
                &entry.key,
                "the tasks of a schedule hold no keys: write `overlap = \"skip\"` for one at a time, or give the key to the \
                 other calls, such as `enqueue(..).unique(..)`",
            );
        }
    }
    for name in ["missed", "overlap"] {
        if let Some(entry) = find(name).filter(|_| cron.is_none() && every.is_none()) {
            errors.at(
                &entry.key,
                format!("`{name}` belongs to a schedule: write `cron = \"..\"` or `every = \"..\"` beside it"),
            );
        }
    }
}

fn expression(value: &Expr, errors: &mut Errors) -> Option<LitStr> {
    let text = values::string(value, "a cron expression such as \"*/5 * * * *\"", errors)?;
    cron::check(&text.value()).map_err(|problem| errors.at(text, problem)).ok()?;
    Some(text.clone())
}

fn zone(value: &Expr, errors: &mut Errors) -> Option<LitStr> {
    let text = values::string(value, "the name of a time zone such as \"Europe/Berlin\"", errors)?;
    let name = text.value();
    if zones::NAMES.contains(&name.as_str()) {
        return Some(text.clone());
    }
    let same = zones::NAMES.iter().find(|known| known.eq_ignore_ascii_case(&name)).copied();
    // What is far too long to be a name is like none.
    let near = || suggest::nearest(&name, &zones::NAMES);
    let meant = same.or_else(|| if name.len() <= 64 { near() } else { None });
    let meant = match meant {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => "write one such as \"Europe/Berlin\", or \"UTC\"".to_owned(),
    };
    errors.at(text, format!("{name:?} is not a name of the IANA time zone database: {meant}"));
    None
}

fn interval(value: &Expr, errors: &mut Errors) -> Option<Duration> {
    let interval = values::duration(value, errors)?;
    if interval < SHORTEST {
        errors.at(value, "an interval is at least one second: write `every = \"1s\"` or more");
        return None;
    }
    Some(interval)
}

/// One of a few words; gives what it is called in the library.
fn choice(value: &Expr, meanings: &[(&str, &'static str)], errors: &mut Errors) -> Option<&'static str> {
    let words: Vec<&str> = meanings.iter().map(|(word, _)| *word).collect();
    let listed = words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ");
    let text = values::string(value, &listed, errors)?;
    let found = meanings.iter().find(|(word, _)| *word == text.value());
    if found.is_none() {
        let meant = suggest::nearest(&text.value(), &words).map(|word| format!("did you mean {word:?}? "));
        errors.at(text, format!("{}write {listed}", meant.unwrap_or_default()));
    }
    found.map(|(_, meaning)| *meaning)
}
