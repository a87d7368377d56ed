//! The only builder of key names.
//!
//! With the default prefix; `{q}` is the queue's name, and as a hash tag it keeps a queue's keys in one cluster slot.
//!
//! | key | type | holds | bound | written by | drained by |
//! |---|---|---|---|---|---|
//! | `dtq:{q}:stream:p9` .. `p0` | stream, group `dtq` | one entry a queued or running task, with one field `e`: `<uuid><meta> <task>`, a line break, the payload; its pending list is the set of running tasks | unfinished tasks | enqueue, claim (promotion), settle (release), fire, requeue | settle, cancel, claim (expiry, duplicates) |
//! | `dtq:{q}:task:<uuid>` | string | the record, see `record.rs` (one integer for a fresh task) | none while unfinished, then the policy's retention | every verb | expiry; at once when the retention is zero; purge of dead letters |
//! | `dtq:{q}:block:<34 letters>` | string | the records of fresh tasks that were accepted together and whose uuids begin alike, see `lua/block.lua` | until each has started to be more than fresh, or is gone | enqueue | every verb that changes such a task |
//! | `dtq:{q}:result:<uuid>` | string | the encoded result | the policy's retention | settle | expiry, requeue |
//! | `dtq:{q}:schedule` | zset | pending and retrying tasks: uuid by due time, or by the end of the time to live if that comes first (ms); schedules: `@<name>` by next tick (ms) | unfinished tasks, schedules | enqueue, settle, steer, declare, fire | claim, cancel |
//! | `dtq:{q}:schedules` | hash | schedules by name, see `lua/plan.lua` | `MOST_SCHEDULES` | steer, declare, fire | steer, claim (undeclared ones) |
//! | `dtq:{q}:dlq` | stream | dead letters: `i` uuid, `t` task, `h` last line of the history | `Policy::DEAD_LETTER_RETENTION` by `MINID` | settle, claim | requeue, discard, purge; trimming, once a minute |
//! | `dtq:{q}:events` | stream | one entry a step, with one field `e`: lines of `<code><attempt> <uuid> <uuid>...`, where the two last letters alone stand for a uuid that begins like the one before | `RedisOptions::event_log` entries, about | every writing verb | trimming |
//! | `dtq:{q}:queue` | hash | `bands` digits of the bands that may hold ready tasks, `sweep` and `tidy` next times (ms), `seen` when a worker was last heard of (ms), `gate` what holds the queue back, if anything does, `watch` which worker comes back for what becomes due (`<due> <until> <worker>`), gauges `pending` `retrying`, counters `succeeded` `failed` `dead_lettered` `cancelled` `expired` `retries` | 14 fields | every writing verb | never |
//! | `dtq:{q}:wake` | list | at most one token: "ask for work" | 1 | enqueue, claim, settle | wait, claim |
//! | `dtq:{q}:beats` | zset | workers that read the queue, as `<worker>~<how long it may be silent, in ms>`, by the end of their latest sign of life (ms) | workers | claim, heartbeat | claim (silent ones) |
//! | `dtq:{q}:once:<key>` | string | work done at most once: `r` in progress or `d` done, `<uuid> <attempt> <band> <entry>` of the attempt and the number of the run, a line break, the result | seven days in progress, then as asked | once | expiry |
//! | `dtq:{q}:idempotency:<key>` | string | `p` in progress, `c` completed or `f` ended without success, and the uuid of the key's task | none while that task is unfinished, then as long as the key is remembered | enqueue, settle, claim, cancel, purge, requeue | expiry; with its task when that is not kept |
//! | `dtq:{q}:unique:<task>/<key>` | string | `s`, `f` or `p` (held until started, until finished, for a period), and the uuid of the holder | until the holder starts or ends; the period | enqueue, requeue | claim (start, end), settle, cancel, purge; expiry of a period |
//! | `dtq:{q}:notes:<uuid>` | hash | what a task told of itself: `p` progress as `<attempt> <ms> <millionths> <message>`, `c` checkpoint, `l` how many lines which lease wrote | as the record | report | expiry; at once when the retention is zero |
//! | `dtq:{q}:log:<uuid>` | list | its log, a line each: `<ms> <attempt> <text>` | `LogLine::KEPT` lines; as the record | report | expiry; at once when the retention is zero |
//! | `dtq:{q}:stops` | stream | running tasks that were asked to stop: `i` uuid | 1024 entries; an hour | cancel, purge | trimming, expiry |
//! | `dtq:{q}:audit` | stream | what was done by hand, an entry each: `a` action, `t` target, `n` tasks reached, `w` who, `r` why, and `p` what the steps of one action have in common | `AuditEntry::KEPT` entries, about | cancel, requeue, discard, steer, fire (by hand), pause, limits, purge | trimming |
//! | `dtq:{q}:limits` | hash | what holds the queue back: `paused`, `depth`, `concurrency`, `s:<task>` set by hand, `d:<task>` declared by workers; `adopt` how far the holders of a new limit are gathered, `drain` an earlier count of ended tasks | 5 fields, and 2 a limited task | pause, limits, declare_limits, enqueue (refused), claim | pause, limits, declare_limits |
//! | `dtq:{q}:slots:<task>` | set | uuids of the running tasks of a limited kind | the limit | claim | settle, claim (lost for good), limits |
//! | `dtq:{q}:parked:<task>` | zset | ready tasks of a limited kind that were passed over, best first: `<9 - band><entry id, padded> <uuid>` | queued tasks of the kind | claim | claim, cancel, purge, enqueue (put off) |
//! | `dtq:{q}:freed` | zset | limited kinds of which some were passed over and one may start, by the place of the best | limited kinds | settle, claim, limits | claim, limits, cancel, purge, enqueue (put off) |
//! | `dtq:{@fleet}:queues` | set | names of all queues | queues | enqueue | never |
//! | `dtq:{@fleet}:workers` | hash | worker id to `<started> <seen> <concurrency> <running> <queue>,<queue>... <task>,<task>...` | live workers | heartbeat | farewell, heartbeat (lapsed ones) |
//! | `dtq:{@fleet}:beats` | zset | worker id by the end of its heartbeat (ms) | live workers | heartbeat | farewell, heartbeat |
//! | `dtq:{@fleet}:events` | stream | worker events: `k` code, `w` worker | `RedisOptions::event_log` entries, about | heartbeat, farewell | trimming |
//!
//! `@` cannot stand in a queue's name, so no queue can collide with the fleet's keys.

use std::time::Duration;

use super::record;
use crate::types::{QueueName, WorkerId};

/// The consumer group of every band's stream.
pub(super) const GROUP: &str = "dtq";
/// The tag of keys that belong to no queue.
const FLEET: &str = "@fleet";

/// What follows the root in a key, under the name that scripts know it by.
const NAMES: [(&str, &str); 24] = [
    ("STREAM", "stream:p"),
    ("TASK", TASK),
    ("BLOCK", "block:"),
    ("RESULT", "result:"),
    ("SCHEDULE", "schedule"),
    ("SCHEDULES", "schedules"),
    ("DLQ", "dlq"),
    ("EVENTS", EVENTS),
    ("QUEUE", "queue"),
    ("WAKE", WAKE),
    ("WORKERS", "workers"),
    ("BEATS", "beats"),
    ("QUEUES", QUEUES),
    ("ONCE", "once:"),
    ("IDEMPOTENCY", "idempotency:"),
    ("UNIQUE", "unique:"),
    ("NOTES", "notes:"),
    ("LOG", "log:"),
    ("STOPS", STOPS),
    ("AUDIT", AUDIT),
    ("LIMITS", "limits"),
    ("SLOTS", "slots:"),
    ("PARKED", "parked:"),
    ("FREED", "freed"),
];
const TASK: &str = "task:";
const AUDIT: &str = "audit";
const DLQ: &str = "dlq";
const EVENTS: &str = "events";
const WAKE: &str = "wake";
const STOPS: &str = "stops";
const QUEUES: &str = "queues";

/// Builds key names under one prefix.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// Names under `prefix`. Braces in it would move the hash tag, so they are refused by the caller.
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// A worker's name in the consumer groups. It tells how long the worker's leases last, so that whoever looks for
    /// lost tasks judges each by its own owner's lease.
    pub(super) fn consumer(worker: &WorkerId, lease: Duration) -> String {
        // At zero every running task would count as lost.
        format!("{worker}~{}", record::millis(lease).max(1))
    }

    /// The root of a queue's keys: all that a script needs to build the rest.
    pub(super) fn root(&self, queue: &QueueName) -> String {
        format!("{}:{{{queue}}}:", self.prefix)
    }

    /// The root of the keys that belong to no queue.
    pub(super) fn fleet(&self) -> String {
        format!("{}:{{{FLEET}}}:", self.prefix)
    }

    /// The set of all queues.
    pub(super) fn queues(&self) -> String {
        self.fleet() + QUEUES
    }

    /// The log of worker events.
    pub(super) fn fleet_events(&self) -> String {
        self.fleet() + EVENTS
    }

    /// The log of a queue's task events.
    pub(super) fn events(&self, queue: &QueueName) -> String {
        self.root(queue) + EVENTS
    }

    /// A queue's dead letters.
    pub(super) fn dlq(&self, queue: &QueueName) -> String {
        self.root(queue) + DLQ
    }

    /// A queue's running tasks that were asked to stop.
    pub(super) fn stops(&self, queue: &QueueName) -> String {
        self.root(queue) + STOPS
    }

    /// What was done to a queue by hand.
    pub(super) fn audit(&self, queue: &QueueName) -> String {
        self.root(queue) + AUDIT
    }

    /// What the names of a queue's records begin with.
    pub(super) fn record_root(&self, queue: &QueueName) -> String {
        self.root(queue) + TASK
    }

    /// The pattern of a queue's records.
    pub(super) fn records(&self, queue: &QueueName) -> String {
        let mut pattern = String::new();
        for letter in self.root(queue).chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern + TASK + "*"
    }

    /// A queue's wake-up list.
    pub(super) fn wake(&self, queue: &QueueName) -> String {
        self.root(queue) + WAKE
    }
}

/// The names above and their keys: scripts get them as constants, so that Rust and Lua cannot disagree.
pub(super) fn names() -> impl Iterator<Item = (&'static str, String)> {
    NAMES.iter().chain([&("GROUP", GROUP)]).map(|(name, key)| (*name, format!("'{key}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queues_keys_share_its_hash_tag() {
        let keys = Keys::new("dtq");
        let queue = QueueName::new("high").unwrap();
        assert_eq!(keys.root(&queue), "dtq:{high}:");
        assert_eq!(keys.wake(&queue), "dtq:{high}:wake");
        assert_eq!(keys.dlq(&queue), "dtq:{high}:dlq");
        assert_eq!(keys.events(&queue), "dtq:{high}:events");
        assert_eq!(Keys::new("d*q").records(&queue), "d\\*q:{high}:task:*");
    }

    #[test]
    fn no_queue_can_be_named_like_the_fleet() {
        assert!(QueueName::new(FLEET).is_err());
        assert_eq!(Keys::new("dtq").queues(), "dtq:{@fleet}:queues");
        assert_eq!(Keys::new("a").fleet_events(), "a:{@fleet}:events");
    }
}
