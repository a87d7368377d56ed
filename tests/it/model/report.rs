//! A sequence and its answers, as people read them.

use std::fmt;
use std::time::Duration;

use super::answers::{Answer, Handed, Step};
use super::pure::Model;
use super::subject::time;
use super::verbs::{Deferral, End, New, QUEUES, Ticks, UniqueKey, WORKERS, Wish};

/// What a step does, told before the model plays it.
pub(super) fn step(step: &Step, model: &Model) -> String {
    let lease = |&grant: &usize| {
        let it = &model.grants[grant];
        format!("lease {grant} (task {}, attempt {})", it.task, it.attempt)
    };
    match step {
        Step::Enqueue(tasks) => list(tasks.iter().map(|(number, new)| format!("enqueue task {number}{new}"))),
        Step::Claim(wish) => wish.to_string(),
        Step::Settle(ends) => list(ends.iter().map(|(grant, end)| format!("settle {}: {end}", lease(grant)))),
        Step::Renew { worker, leases, lease: ticks } => {
            let leases = list(leases.iter().map(lease));
            format!("renew as {} for {}: {leases}", WORKERS[*worker], span(*ticks))
        }
        Step::Cancel(number) => format!("cancel task {number}"),
        Step::Pause { queue, pause: true } => format!("pause {}", QUEUES[*queue]),
        Step::Pause { queue, pause: false } => format!("resume {}", QUEUES[*queue]),
        Step::Purge(queue) => format!("purge {}", QUEUES[*queue]),
        Step::Steer(number, hand) => format!("{hand:?} task {number} by hand"),
        Step::Advance(ticks) => format!("{} pass", span(*ticks)),
        Step::Reopen => "open the store again".to_owned(),
    }
}

/// An answer; `leases` is the number of the first lease that it gives out.
pub(super) fn answer(answer: &Answer, leases: usize) -> String {
    let Answer::Claimed { handed, more, later, paused } = answer else { return format!("{answer:?}") };
    let handed = handed.iter().enumerate().map(|(at, Handed { task, attempt, reclaimed })| {
        let how = if *reclaimed { " taken over" } else { "" };
        format!("lease {}: task {task}, attempt {attempt}{how}", leases + at)
    });
    format!("[{}], more: {more}, something due later: {later}, paused: {paused}", list(handed))
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join("; ")
}

fn span(ticks: Ticks) -> String {
    format!("{} s", time(ticks).as_secs())
}

/// What is not as usual with it.
impl fmt::Display for New {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " in {}, max_attempts {}", QUEUES[self.queue], self.max_attempts)?;
        if self.priority != 5 {
            write!(f, ", priority {}", self.priority)?;
        }
        match self.deferral {
            Deferral::Now => {}
            Deferral::After(delay) => write!(f, ", after {}", span(delay))?,
            Deferral::At(distance) => {
                let sign = if distance < 0 { '-' } else { '+' };
                write!(f, ", at now {sign} {}", span(distance.unsigned_abs()))?;
            }
        }
        if let Some(ttl) = self.ttl {
            write!(f, ", time to live {}", span(ttl))?;
        }
        if self.dead_letter {
            write!(f, ", dead letter")?;
        }
        if let Some(key) = self.key {
            write!(f, ", idempotency key {key}")?;
        }
        if let Some(UniqueKey { key, hold, on_conflict }) = self.unique {
            write!(f, ", unique key {key} until {hold:?}, else {on_conflict:?}")?;
        }
        if time(self.retention) < Duration::from_secs(3600) {
            write!(f, ", kept for {}", span(self.retention))?;
        }
        Ok(())
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (queue, worker, lease) = (QUEUES[self.queue], WORKERS[self.worker], span(self.lease));
        let sweep = if self.sweep { ", sweep" } else { "" };
        write!(f, "claim up to {} of {queue} as {worker}, lease {lease}{sweep}", self.max)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeed { result: true } => f.write_str("success with a result"),
            Self::Succeed { result: false } => f.write_str("success"),
            Self::Retry(delay) => write!(f, "retry after {}", span(*delay)),
            Self::Snooze(delay) => write!(f, "snooze for {}", span(*delay)),
            Self::Fail => f.write_str("failure"),
            Self::Drop => f.write_str("dropped"),
            Self::Release => f.write_str("release"),
        }
    }
}
