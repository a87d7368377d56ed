//! The scripts: one per verb, each the whole of one atomic step.

use std::collections::HashMap;
use std::sync::LazyLock;

use redis::Cmd;

use super::keys;
use super::record::{META_ATTEMPTS, META_KEEP};
use super::stops::{STOPS_KEEP, STOPS_KEPT};
use crate::store::{
    BATCH, DECLARED_FOR, MOST_SCHEDULES, ONCE_IN_PROGRESS, RETRY_AFTER, RETRY_BETWEEN, TICK_HELD, UNDECLARED_KEPT,
    WATCH_LATE,
};
use crate::types::{Attempt, AuditEntry, LogLine, Policy, ROW_MARK};

/// One script. Called by its hash; a server that does not know it is told its text.
pub(super) struct Script {
    text: String,
    hash: String,
}

/// What a call of one task takes at least.
const ARGS: usize = 32;
const BYTES: usize = 512;

impl Script {
    pub(super) fn new(text: String) -> Self {
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { text, hash }
    }

    /// Begins a call on the keys under `root`.
    pub(super) fn call(&self, root: &str) -> Cmd {
        // Room for a task and its arguments, so that it does not grow bit by bit.
        let mut command = Cmd::with_capacity(ARGS, BYTES);
        command.arg("EVALSHA").arg(&self.hash).arg(1).arg(root);
        command
    }

    /// Begins a call on these keys.
    pub(super) fn call_on(&self, keys: &[&str]) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.hash).arg(keys.len()).arg(keys);
        command
    }

    /// The same call, with the text in place of the hash. It needs no further step between teaching and calling in which a
    /// server could forget the script again.
    pub(super) fn with_text(&self, call: &Cmd) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(&self.text);
        for argument in call.args_iter().skip(2) {
            match argument {
                redis::Arg::Simple(bytes) => command.arg(bytes),
                // A cursor stands only in scans.
                _ => &mut command,
            };
        }
        command
    }
}

/// Every script, ready to be called by its hash.
pub(super) static SCRIPTS: LazyLock<Scripts> = LazyLock::new(Scripts::build);

/// One script per verb.
pub(super) struct Scripts {
    pub(super) enqueue: Script,
    pub(super) claim: Script,
    pub(super) settle: Script,
    pub(super) renew: Script,
    pub(super) report: Script,
    pub(super) cancel: Script,
    pub(super) requeue: Script,
    pub(super) discard: Script,
    pub(super) list: Script,
    pub(super) scan: Script,
    pub(super) get: Script,
    pub(super) stats: Script,
    pub(super) heartbeat: Script,
    pub(super) beat: Script,
    pub(super) farewell: Script,
    pub(super) workers: Script,
    pub(super) nudge: Script,
    pub(super) begin_once: Script,
    pub(super) end_once: Script,
    pub(super) find_by_key: Script,
    pub(super) declare: Script,
    pub(super) steer: Script,
    pub(super) fire: Script,
    pub(super) schedules: Script,
    pub(super) pause: Script,
    pub(super) limit: Script,
    pub(super) limits: Script,
    pub(super) purge: Script,
}

const BASE: &str = include_str!("lua/base.lua");
const RECORD: &str = concat!(include_str!("lua/record.lua"), include_str!("lua/block.lua"));
const SHARED: &str = include_str!("lua/shared.lua");
const SELDOM: &str = include_str!("lua/seldom.lua");
const HELD: &str = include_str!("lua/held.lua");
const SUBMIT: &str = include_str!("lua/submit.lua");
const PLAN: &str = include_str!("lua/plan.lua");
const LOOKING: &str = include_str!("lua/looking.lua");
const FINISHED: &str = include_str!("lua/finished.lua");
const SLOTS: &str = include_str!("lua/slots.lua");
const GATE: &str = include_str!("lua/gate.lua");
const ONCE: &str = include_str!("lua/once.lua");

/// A function of this body: its parts cost nothing until it is called, see `lua/shared.lua`.
fn function(name: &str, body: &[&str]) -> String {
    format!("local function {name}()\n{}\nend\n", body.concat())
}

/// The script that claims.
fn claim() -> String {
    [
        include_str!("lua/claiming.lua"),
        &function("promote", &[SELDOM, HELD, PLAN, include_str!("lua/due.lua")]),
        &function("hand_out_unheard", &[include_str!("lua/unheard.lua")]),
        &function("look_for_lost", &[SELDOM, HELD, SLOTS, include_str!("lua/lost.lua")]),
        &function("make_singly", &[SELDOM, HELD, SLOTS, GATE, include_str!("lua/singly.lua")]),
        &function("free_all", &[SELDOM, HELD, "free_held()"]),
        include_str!("lua/ready.lua"),
        // The head of the schedule, and the room that a limit of the queue leaves unused.
        "local head, withheld = {}, 0\n",
        &function("keep_watch", &[include_str!("lua/watch.lua")]),
        include_str!("lua/claim.lua"),
    ]
    .concat()
}

/// The script that accepts tasks.
fn enqueue() -> String {
    [
        include_str!("lua/accepting.lua"),
        &function("depth", &[include_str!("lua/depth.lua")]),
        &function("make_run_later", &[SELDOM, HELD, SLOTS, SUBMIT, include_str!("lua/deferred.lua")]),
        &function("make_schedule", &[SELDOM, "return schedule"]),
        include_str!("lua/enqueue.lua"),
    ]
    .concat()
}

/// The script that ends attempts.
fn settle() -> String {
    [
        include_str!("lua/settling.lua"),
        &function("make_others", &[SELDOM, HELD, SLOTS, include_str!("lua/endings.lua")]),
        include_str!("lua/settle.lua"),
    ]
    .concat()
}

impl Scripts {
    fn build() -> Self {
        // Some readers and the fleet's scripts need the names only.
        let plain = |body: &str| Script::new(named(body));
        // What is inside a function reaches what is outside of it at no cost, see `lua/shared.lua`.
        let lean = |body: &str| plain(&[BASE, RECORD, SHARED, "return (function()\n", body, "\nend)()\n"].concat());
        let full = |body: &str| lean(&[SELDOM, HELD, body].concat());
        let planned = |body: &str| full(&[PLAN, body].concat());
        // Whatever starts, ends or moves a task that may hold a slot, or may have been passed over.
        let slots = |body: &str| full(&[SLOTS, body].concat());
        let gate = |body: &str| slots(&[GATE, body].concat());
        Self {
            enqueue: lean(&enqueue()),
            claim: lean(&claim()),
            settle: lean(&settle()),
            renew: full(include_str!("lua/renew.lua")),
            report: full(include_str!("lua/report.lua")),
            cancel: slots(&[LOOKING, include_str!("lua/cancel.lua")].concat()),
            requeue: full(&[LOOKING, FINISHED, include_str!("lua/requeue.lua")].concat()),
            discard: full(&[LOOKING, FINISHED, include_str!("lua/discard.lua")].concat()),
            list: full(&[LOOKING, include_str!("lua/list.lua")].concat()),
            scan: full(&[LOOKING, include_str!("lua/scan.lua")].concat()),
            get: full(include_str!("lua/get.lua")),
            stats: plain(include_str!("lua/stats.lua")),
            heartbeat: plain(include_str!("lua/heartbeat.lua")),
            beat: full(include_str!("lua/beat.lua")),
            farewell: plain(include_str!("lua/farewell.lua")),
            workers: plain(include_str!("lua/workers.lua")),
            begin_once: full(&[ONCE, include_str!("lua/begin_once.lua")].concat()),
            end_once: full(&[ONCE, include_str!("lua/end_once.lua")].concat()),
            find_by_key: full(include_str!("lua/find_by_key.lua")),
            declare: planned(include_str!("lua/declare.lua")),
            steer: planned(include_str!("lua/steer.lua")),
            fire: planned(include_str!("lua/fire.lua")),
            schedules: plain(include_str!("lua/schedules.lua")),
            pause: gate(include_str!("lua/pause.lua")),
            limit: gate(include_str!("lua/limit.lua")),
            limits: plain(include_str!("lua/limits.lua")),
            purge: slots(include_str!("lua/purge.lua")),
            nudge: plain(include_str!("lua/nudge.lua")),
        }
    }
}

/// Key names and bounds by the names that scripts know them by, from the same constants that Rust uses.
static CONSTANTS: LazyLock<HashMap<&'static str, String>> = LazyLock::new(|| {
    let numbers = [
        ("BATCH", BATCH as u128),
        ("KEPT", Attempt::KEPT as u128),
        ("AUDIT_KEPT", AuditEntry::KEPT as u128),
        ("DEAD_KEEP", Policy::DEAD_LETTER_RETENTION.as_millis()),
        ("META_ATTEMPTS", u128::from(META_ATTEMPTS)),
        ("META_KEEP", META_KEEP.as_millis()),
        ("ONCE_IN_PROGRESS", ONCE_IN_PROGRESS.as_millis()),
        ("LOG_KEPT", LogLine::KEPT as u128),
        ("STOPS_KEPT", STOPS_KEPT as u128),
        ("STOPS_KEEP", STOPS_KEEP.as_millis()),
        ("MOST_SCHEDULES", MOST_SCHEDULES as u128),
        ("TICK_HELD", TICK_HELD.as_millis()),
        ("DECLARED_FOR", DECLARED_FOR.as_millis()),
        ("UNDECLARED_KEPT", UNDECLARED_KEPT.as_millis()),
        ("WATCH_LATE", WATCH_LATE.as_millis()),
        ("RETRY_AFTER", RETRY_AFTER.as_millis()),
        ("RETRY_LEAST", RETRY_BETWEEN.0.as_millis()),
        ("RETRY_MOST", RETRY_BETWEEN.1.as_millis()),
    ];
    let numbers = numbers.into_iter().map(|(name, number)| (name, number.to_string()));
    keys::names().chain(numbers).chain([("ROW_MARK", format!("'{ROW_MARK:02x}'"))]).collect()
});

/// The text with what its constants stand for: as locals they would cost each call, and a script has at most 200 of these. A word
/// behind a quotation mark is no constant.
fn named(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, behind) = from.split_at(from.find(|letter| !is_part(letter)).unwrap_or(from.len()));
        let constant = CONSTANTS.get(word).filter(|_| !before.ends_with('\''));
        out.extend([before, constant.map_or(word, String::as_str)]);
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_put_in_where_they_are_named() {
        let text = "call('XREADGROUP', 'GROUP', GROUP, root .. WAKE, BATCH - 1) -- BATCHES";
        assert_eq!(named(text), "call('XREADGROUP', 'GROUP', 'dtq', root .. 'wake', 128 - 1) -- BATCHES");
    }

    #[test]
    fn a_call_with_the_text_has_the_arguments_of_the_call() {
        let script = Script::new("return 1".into());
        let mut call = script.call("root");
        call.arg(7).arg(&b"\xff\r\n"[..]).arg("");
        let mut expected = redis::cmd("EVAL");
        expected.arg("return 1").arg(1).arg("root").arg(7).arg(&b"\xff\r\n"[..]).arg("");
        assert_eq!(script.with_text(&call).get_packed_command(), expected.get_packed_command());
    }
}
