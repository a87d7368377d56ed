//! The allowed moves between statuses: one table, no I/O. Stores implement it; the conformance suite holds them to it.

use crate::types::Status;

use Status::{Cancelled, DeadLettered, Expired, Failed, Pending, Queued, Retrying, Running, Succeeded};

/// Every allowed move, with what causes it.
pub const TRANSITIONS: &[(Status, Status, &str)] = &[
    (Pending, Queued, "its delay is over"),
    (Pending, Cancelled, "called off"),
    (Pending, Expired, "time to live ran out"),
    (Queued, Running, "claimed"),
    (Queued, Pending, "put off by a later submission of its unique key"),
    (Queued, Cancelled, "called off"),
    (Queued, Expired, "time to live ran out"),
    (Running, Running, "taken over from a lost worker, attempt + 1"),
    (Running, Queued, "given back at shutdown, same attempt"),
    (Running, Pending, "snoozed, same attempt"),
    (Running, Retrying, "failed, attempts left"),
    (Running, Succeeded, "done"),
    (Running, Failed, "failed for good, no dead letters"),
    (Running, DeadLettered, "failed for good"),
    (Running, Cancelled, "dropped by its handler, or a cancellation obeyed"),
    (Retrying, Queued, "its backoff is over, attempt + 1"),
    (Retrying, Cancelled, "called off"),
    (Retrying, Expired, "time to live ran out"),
];

/// The moves that somebody makes by hand: a finished task is requeued. No worker and no clock makes one.
pub const BY_HAND: &[(Status, Status, &str)] = &[
    (DeadLettered, Queued, "requeued from the dead letters, or by id when discarded"),
    (Failed, Queued, "requeued by id"),
    (Cancelled, Queued, "requeued by id"),
    (Expired, Queued, "requeued by id"),
    (Succeeded, Queued, "requeued by id, when that was insisted on"),
];

/// True when a task may move from one status to the other by itself, or called off.
pub fn allowed(from: Status, to: Status) -> bool {
    TRANSITIONS.iter().any(|&(a, b, _)| a == from && b == to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_a_terminal_status_by_itself() {
        for from in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
            assert!(Status::ALL.into_iter().all(|to| !allowed(from, to)), "{from}");
        }
    }

    #[test]
    fn every_terminal_status_can_be_requeued_by_hand() {
        for from in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
            assert_eq!(BY_HAND.iter().filter(|&&(a, b, _)| a == from && b == Queued).count(), 1, "{from}");
        }
    }

    #[test]
    fn every_unfinished_status_can_end() {
        for from in Status::ALL.into_iter().filter(|status| !status.is_terminal()) {
            assert!(allowed(from, Cancelled), "{from}");
        }
    }

    #[test]
    fn only_the_queue_leads_to_running() {
        let into_running: Vec<_> = Status::ALL.into_iter().filter(|&from| allowed(from, Running)).collect();
        assert_eq!(into_running, [Queued, Running]);
    }
}
