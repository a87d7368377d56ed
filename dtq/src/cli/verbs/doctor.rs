//! `doctor`: what is wrong, and what to do about it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use crate::cli::failure::{Done, Failure, exit};
use crate::cli::output::{absolute, span};
use crate::cli::session::Session;
use crate::client::Tasks;
use crate::clock::Clock;
use crate::store::{Description, StoreError};
use crate::types::{By, QueueName, QueueStats, Status, Timestamp, WorkerInfo};

/// Clocks that differ by more than this are worth a word.
const SKEW: Duration = Duration::from_secs(2);

/// Tasks that are looked at in each queue, the next ones first.
const LOOKED_AT: usize = 1000;

/// How to tell it.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Doctor {
    /// One JSON object a line
    #[arg(long)]
    json: bool,

    /// Tell only what is wrong
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Wrong: what to do stands beside it.
    Finding,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    level: Level,
    check: &'static str,
    says: String,
    remedy: Option<String>,
}

impl Look {
    fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, says: says.into(), remedy: None }
    }

    fn note(check: &'static str, says: impl Into<String>) -> Self {
        Self { level: Level::Note, ..Self::ok(check, says) }
    }

    fn finding(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Finding, remedy: Some(remedy.into()), ..Self::ok(check, says) }
    }
}

impl Doctor {
    /// Looks at everything; exit code 1 when something is wrong.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut looks = Vec::new();
        look(session, &mut looks).await;
        for look in looks.iter().filter(|look| !self.quiet || look.level == Level::Finding) {
            self.tell(session, look)?;
        }
        let found = looks.iter().filter(|look| look.level == Level::Finding).count();
        match found {
            0 => Ok(()),
            _ => Err(Failure::silent(exit::FAILURE)),
        }
    }

    fn tell(&self, session: &mut Session, look: &Look) -> Done {
        let Look { level, check, says, remedy } = look;
        let word = match level {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Finding => "WRONG",
        };
        if self.json {
            let level = word.to_ascii_lowercase();
            return session.out.json(&json!({ "level": level, "check": check, "says": says, "remedy": remedy }));
        }
        session.out.line(&format!("{word:<5}  {check:<12}  {says}"))?;
        remedy.as_ref().map_or(Ok(()), |remedy| session.out.line(&format!("{:21}-> {remedy}", "")))
    }
}

/// Looks at the store, then at what is in it.
async fn look(session: &Session, looks: &mut Vec<Look>) {
    match store(session, looks).await {
        Ok(()) => {}
        Err(error) => {
            looks.push(Look::finding(
                "store",
                error.to_string(),
                "look at the server and at the URL; nothing else was looked at",
            ));
            return;
        }
    }
    if let Err(error) = fleet(session, looks).await {
        looks.push(Look::finding(
            "store",
            error.to_string(),
            "what dtq stored there cannot be read; is it a newer version's?",
        ));
    }
}

async fn store(session: &Session, looks: &mut Vec<Look>) -> Result<(), StoreError> {
    let began = Instant::now();
    let store = session.client.describe().await?;
    let (took, address) = (began.elapsed(), session.client.store().address());
    let here = Clock::System.now();
    looks.push(Look::ok("store", format!("{address} answers within {:.1} ms", took.as_secs_f64() * 1000.0)));
    looks.push(Look::ok("version", format!("{} {}", store.product, store.version)));
    looks.push(clock(store.now, here, took));
    match session.client.check().await {
        Ok(warnings) => {
            looks.extend(
                warnings.into_iter().map(|warning| Look::finding("settings", warning.0, "see docs/guarantee.md")),
            );
        }
        // It works for this command, and a worker would refuse it.
        Err(error) if !error.is_transient() => {
            looks.push(Look::finding("settings", error.to_string(), "no worker starts on it until then"));
        }
        Err(error) => return Err(error),
    }
    looks.extend(settings(&store));
    Ok(())
}

/// Nothing is decided by this machine's clock; people who read log lines of two machines may still wonder.
fn clock(there: Timestamp, here: Timestamp, took: Duration) -> Look {
    let (ahead, behind) = (there.since(here), here.since(there).saturating_sub(took));
    match ahead.max(behind) {
        skew if skew <= SKEW => Look::ok("clock", "the store's clock and this machine's agree"),
        skew => Look::note(
            "clock",
            format!(
                "the store's clock is {} {} this machine's; nothing goes by this machine's, only its log lines",
                span(skew),
                if ahead > behind { "ahead of" } else { "behind" }
            ),
        ),
    }
}

fn settings(store: &Description) -> Option<Look> {
    let told: Vec<_> = store.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    (!told.is_empty()).then(|| Look::ok("settings", told.join(", ")))
}

async fn fleet(session: &Session, looks: &mut Vec<Look>) -> Result<(), StoreError> {
    let workers = session.client.workers().await?;
    looks.push(match workers.len() {
        0 => Look::note("workers", "no worker is alive"),
        count => Look::ok("workers", format!("{count} alive")),
    });
    let mut fine = 0;
    for queue in session.client.queues().await? {
        let stats = session.client.stats(&queue).await?;
        let paused = paused(session, &queue, &stats).await?;
        let found = match unread(&queue, &stats, &workers) {
            Some(look) => Some(look),
            None => strange(session, &queue, &stats, &workers).await?,
        };
        fine += usize::from(paused.is_none() && found.is_none());
        looks.extend(paused);
        looks.extend(found);
        looks.extend(dead(session, &queue).await?);
    }
    if fine > 0 {
        looks.push(Look::ok("queues", format!("{fine} with nothing wrong")));
    }
    looks.extend(registry(session, &workers));
    Ok(())
}

/// A pause that somebody may have forgotten.
async fn paused(session: &Session, queue: &QueueName, stats: &QueueStats) -> Result<Option<Look>, StoreError> {
    let Some(pause) = session.client.limits_of(queue).await?.paused else { return Ok(None) };
    let By { actor, reason } = pause.by;
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let waiting = waiting(stats.unfinished() - stats.running);
    let says = format!("{queue:?} is paused since {} by {actor}{reason}, and {waiting}", absolute(pause.since));
    Ok(Some(Look::finding("queues", says, format!("{} queue resume {queue}", session.program))))
}

/// `1 task waits`, `3 tasks wait`.
fn waiting(count: u64) -> String {
    if count == 1 { "1 task waits".into() } else { format!("{count} tasks wait") }
}

/// A queue in which tasks wait, and that no live worker reads.
fn unread(queue: &QueueName, stats: &QueueStats, workers: &[WorkerInfo]) -> Option<Look> {
    let waiting = stats.unfinished();
    let read = workers.iter().any(|worker| worker.queues.contains(queue));
    (waiting > 0 && !read).then(|| {
        Look::finding(
            "queues",
            match waiting {
                1 => format!("no live worker reads {queue:?}, and 1 task of it is not finished"),
                many => format!("no live worker reads {queue:?}, and {many} tasks of it are not finished"),
            },
            format!("start a worker with --queues {queue}"),
        )
    })
}

/// Tasks in a queue that none of its live workers knows, if those tell what they know.
async fn strange(
    session: &Session,
    queue: &QueueName,
    stats: &QueueStats,
    workers: &[WorkerInfo],
) -> Result<Option<Look>, StoreError> {
    let known = workers.iter().filter(|worker| worker.queues.contains(queue));
    let known: BTreeSet<&str> = known.flat_map(|worker| &worker.tasks).map(String::as_str).collect();
    if stats.unfinished() == 0 || known.is_empty() {
        return Ok(None);
    }
    let waiting = [Status::Queued, Status::Retrying, Status::Pending];
    let waiting = waiting.into_iter().fold(session.client.tasks(queue), Tasks::status).list(LOOKED_AT).await?;
    let names: BTreeSet<_> =
        waiting.iter().map(|task| task.task.as_str()).filter(|name| !known.contains(name)).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    Ok(Some(Look::finding(
        "tasks",
        format!("no live worker of queue {queue:?} knows these tasks, which wait in it: {names}"),
        "start the worker whose program has them; if a task was renamed, name the old name in its `aliases`",
    )))
}

/// Dead letters wait for somebody to look.
async fn dead(session: &Session, queue: &QueueName) -> Result<Option<Look>, StoreError> {
    let count = session.client.dead_letters(queue).list(LOOKED_AT).await?.len();
    let more = if count == LOOKED_AT { " or more" } else { "" };
    let says = format!("{count}{more} in queue {queue:?}: `{} dlq group --queue {queue}` tells why", session.program);
    Ok((count > 0).then(|| Look::note("dead letters", says)))
}

/// Tasks of this program that no live worker says it knows, although workers do say what they know.
fn registry(session: &Session, workers: &[WorkerInfo]) -> Option<Look> {
    let known: BTreeSet<&str> = workers.iter().flat_map(|worker| &worker.tasks).map(String::as_str).collect();
    let own = session.registry.as_ref()?.iter().map(|task| task.def.name);
    let missing: Vec<_> = own.filter(|name| !known.contains(name)).collect();
    (!known.is_empty() && !missing.is_empty())
        .then(|| Look::note("tasks", format!("this program has tasks that no live worker has: {}", missing.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_are_a_note_and_no_more() {
        let at = Timestamp::from_millis;
        let took = Duration::from_secs(3);
        assert_eq!(clock(at(10_000), at(9_000), took).level, Level::Ok);
        assert_eq!(clock(at(10_000), at(14_000), took).level, Level::Ok, "the answer took its time");
        let ahead = clock(at(100_000), at(10_000), took);
        assert_eq!((ahead.level, ahead.says.contains("1m 30s ahead of")), (Level::Note, true), "{ahead:?}");
        let behind = clock(at(10_000), at(103_000), took);
        assert!(behind.says.contains("1m 30s behind"), "{behind:?}");
    }
}
