//! Which tasks or dead letters a verb is for.

use std::time::{Duration, SystemTime};

use clap::Args;

use crate::client::{Client, DeadLetters, Tasks};
use crate::types::{ErrorKind, QueueName, Status, Timestamp};

/// An instant: given as one, or as a time that has passed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    At(Timestamp),
    Ago(Duration),
}

impl When {
    /// The instant, for a command that is given at `now` by the store's clock.
    pub(super) fn by(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(ago) => {
                let ago = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(now.as_millis().saturating_sub(ago))
            }
        }
    }
}

/// Reads `30s`, `10m` or `1h30m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| {
        let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match bare {
            true => format!("it has no unit: write {text}s for seconds, or {text}m for minutes"),
            false => "write numbers with their units, such as 30s, 10m or 1h30m".into(),
        }
    })
}

/// Reads `2h`, or `2026-11-30T13:22:16Z`, also shorter.
fn when(text: &str) -> Result<When, String> {
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(When::Ago(ago));
    }
    let day = |text: &str| humantime::parse_rfc3339_weak(&format!("{text} 00:00:00"));
    let at: SystemTime = humantime::parse_rfc3339_weak(text)
        .or_else(|_| day(text))
        .map_err(|_| "write an instant such as 2026-11-30T13:22:16Z or 2026-11-30 (UTC), or a time ago such as 2h")?;
    Ok(When::At(at.into()))
}

/// Tasks.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct TaskArgs {
    /// Only of this queue; may be given more than once
    #[arg(long, value_name = "QUEUE")]
    pub(super) queue: Vec<QueueName>,

    /// Only in this status: pending, queued, running, retrying, succeeded, failed, dead_lettered, cancelled, expired; may
    /// be given more than once
    #[arg(long, value_name = "STATUS", value_parser = status)]
    pub(super) status: Vec<Status>,

    /// Only tasks of this name
    #[arg(long, value_name = "NAME")]
    pub(super) task: Option<String>,

    /// Only those that were enqueued at this instant (or this long ago) or later
    #[arg(long, value_name = "TIME", value_parser = when)]
    enqueued_from: Option<When>,

    /// Only those that were enqueued before this instant (or longer ago)
    #[arg(long, value_name = "TIME", value_parser = when)]
    enqueued_before: Option<When>,

    /// Only those that finished at this instant (or this long ago) or later
    #[arg(long, value_name = "TIME", value_parser = when)]
    finished_from: Option<When>,

    /// Only those that finished before this instant (or longer ago)
    #[arg(long, value_name = "TIME", value_parser = when)]
    finished_before: Option<When>,
}

/// A status, with a dash or an underscore in it.
fn status(text: &str) -> Result<Status, String> {
    text.replace('-', "_").parse()
}

impl TaskArgs {
    /// Those of one queue.
    pub(super) fn tasks(&self, client: &Client, queue: &QueueName, now: Timestamp) -> Tasks {
        let mut tasks = self.status.iter().fold(client.tasks(queue), |tasks, &status| tasks.status(status));
        if let Some(name) = &self.task {
            tasks = tasks.task(name);
        }
        if let Some(when) = self.enqueued_from {
            tasks = tasks.enqueued_from(when.by(now));
        }
        if let Some(when) = self.enqueued_before {
            tasks = tasks.enqueued_before(when.by(now));
        }
        if let Some(when) = self.finished_from {
            tasks = tasks.finished_from(when.by(now));
        }
        if let Some(when) = self.finished_before {
            tasks = tasks.finished_before(when.by(now));
        }
        tasks
    }
}

/// Dead letters.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct LetterArgs {
    /// Only of this queue; may be given more than once
    #[arg(long, value_name = "QUEUE")]
    pub(super) queue: Vec<QueueName>,

    /// Only of tasks of this name
    #[arg(long, value_name = "NAME")]
    pub(super) task: Option<String>,

    /// Only of this kind of error, such as error, panic, timeout, worker_lost
    #[arg(long, value_name = "KIND", value_parser = error_kind)]
    kind: Option<ErrorKind>,

    /// Only those whose error contains this text
    #[arg(long, value_name = "TEXT")]
    saying: Option<String>,

    /// Only those that died longer ago than this, such as 1h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    older_than: Option<Duration>,

    /// Only those that died this long ago at most
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    newer_than: Option<Duration>,
}

/// A kind of error, with a dash or an underscore in it.
fn error_kind(text: &str) -> Result<ErrorKind, String> {
    text.replace('-', "_").parse()
}

impl LetterArgs {
    /// Those of one queue.
    pub(super) fn letters(&self, client: &Client, queue: &QueueName) -> DeadLetters {
        let mut letters = client.dead_letters(queue);
        if let Some(name) = &self.task {
            letters = letters.task(name);
        }
        if let Some(kind) = self.kind {
            letters = letters.kind(kind);
        }
        if let Some(text) = &self.saying {
            letters = letters.saying(text);
        }
        if let Some(age) = self.older_than {
            letters = letters.older_than(age);
        }
        if let Some(age) = self.newer_than {
            letters = letters.newer_than(age);
        }
        letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_given_as_such_or_as_a_time_ago() {
        let noon = Timestamp::from_millis(1_733_000_000_000);
        assert_eq!(when("2h").unwrap().by(noon).as_millis(), noon.as_millis() - 7_200_000);
        assert_eq!(when("2024-11-30T20:53:20Z").unwrap().by(noon), noon);
        assert_eq!(when("2024-11-30 20:53:20").unwrap().by(noon), noon);
        assert_eq!(when("1970-01-02").unwrap().by(noon).as_millis(), 86_400_000);
        assert!(when("yesterday").unwrap_err().contains("2h"));
    }

    #[test]
    fn a_duration_without_its_unit_is_told_so() {
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("10").unwrap_err(), "it has no unit: write 10s for seconds, or 10m for minutes");
        assert!(duration("soon").unwrap_err().contains("30s") && duration("").unwrap_err().contains("30s"));
    }

    #[test]
    fn names_may_have_dashes() {
        assert_eq!(status("dead-lettered"), Ok(Status::DeadLettered));
        assert_eq!(error_kind("worker-lost"), Ok(ErrorKind::WorkerLost));
        assert!(status("done").unwrap_err().contains("succeeded") && error_kind("bad").unwrap_err().contains("panic"));
    }
}
