//! The scripts: one per verb, each the whole of one atomic step.

use std::sync::LazyLock;

use redis::Cmd;

use super::keys;
use super::record::{META_ATTEMPTS, META_KEEP};
use crate::store::{BATCH, ONCE_IN_PROGRESS};
use crate::types::{Attempt, AuditEntry, Policy};

/// One script. Called by its hash; a server that does not know it is told its text.
pub(super) struct Script {
    text: String,
    hash: String,
}

impl Script {
    pub(super) fn new(text: String) -> Self {
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { text, hash }
    }

    /// Begins a call on the keys under `root`.
    pub(super) fn call(&self, root: &str) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.hash).arg(1).arg(root);
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
    pub(super) cancel: Script,
    pub(super) get: Script,
    pub(super) stats: Script,
    pub(super) heartbeat: Script,
    pub(super) beat: Script,
    pub(super) farewell: Script,
    pub(super) workers: Script,
    pub(super) nudge: Script,
    pub(super) begin_once: Script,
    pub(super) end_once: Script,
}

const BASE: &str = include_str!("lua/base.lua");
const RECORD: &str = include_str!("lua/record.lua");
const ONCE: &str = include_str!("lua/once.lua");

impl Scripts {
    fn build() -> Self {
        // Some readers and the fleet's scripts need the names only.
        let plain = |body: &str| Script::new([&head(), body].concat());
        let full = |body: &str| Script::new([&head(), BASE, RECORD, body].concat());
        Self {
            enqueue: full(include_str!("lua/enqueue.lua")),
            claim: full(include_str!("lua/claim.lua")),
            settle: full(include_str!("lua/settle.lua")),
            renew: full(include_str!("lua/renew.lua")),
            cancel: full(include_str!("lua/cancel.lua")),
            get: full(include_str!("lua/get.lua")),
            stats: plain(include_str!("lua/stats.lua")),
            heartbeat: plain(include_str!("lua/heartbeat.lua")),
            beat: full(include_str!("lua/beat.lua")),
            farewell: plain(include_str!("lua/farewell.lua")),
            workers: plain(include_str!("lua/workers.lua")),
            begin_once: full(&[ONCE, include_str!("lua/begin_once.lua")].concat()),
            end_once: full(&[ONCE, include_str!("lua/end_once.lua")].concat()),
            nudge: plain(include_str!("lua/nudge.lua")),
        }
    }
}

/// Key names and bounds, from the same constants that Rust uses.
fn head() -> String {
    let numbers = [
        ("BATCH", BATCH as u128),
        ("KEPT", Attempt::KEPT as u128),
        ("AUDIT_KEPT", AuditEntry::KEPT as u128),
        ("DEAD_KEEP", Policy::DEAD_LETTER_RETENTION.as_millis()),
        ("META_ATTEMPTS", u128::from(META_ATTEMPTS)),
        ("META_KEEP", META_KEEP.as_millis()),
        ("ONCE_IN_PROGRESS", ONCE_IN_PROGRESS.as_millis()),
    ];
    let (names, values): (Vec<_>, Vec<_>) = numbers.iter().map(|(name, it)| (*name, it.to_string())).unzip();
    format!("{}local {} = {}\n", keys::prelude(), names.join(", "), values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
