//! Every move of the table happens, and no other does.

use std::time::Duration;

use dtq::state::TRANSITIONS;
use dtq::store::{CancelOutcome, Claim, Renewed, Settled, Verdict};
use dtq::types::{Delivery, EventKind, OnConflict, Status, TaskId, Unique};
use dtq_tests::{LEASE, World, failure, task, want};

use Status::{Cancelled, DeadLettered, Expired, Failed, Pending, Queued, Retrying, Running, Succeeded};

const HOUR: Duration = Duration::from_secs(3600);

/// A task in `from`, with `ttl` when it is to expire.
async fn start(w: &World, from: Status, to: Status) -> (TaskId, Option<Delivery>) {
    let mut new = task("mover").queue(&format!("{from}-{to}")).unique("k");
    if to == Expired {
        new = new.ttl(HOUR / 2);
    }
    if to == Failed {
        new = new.no_dead_letter();
    }
    let brought = w.bring(from, new).await;
    (brought.id, brought.delivery)
}

/// The verdict that leads from `running` to `to`.
fn verdict(to: Status) -> Option<Verdict> {
    Some(match to {
        Queued => Verdict::Release,
        Pending => Verdict::Snooze { delay: HOUR },
        Retrying => Verdict::Retry { delay: HOUR, failure: failure("x") },
        Succeeded => Verdict::Succeeded { result: None },
        Failed | DeadLettered => Verdict::Failed { failure: failure("x") },
        Cancelled => Verdict::Cancelled { reason: "x".into() },
        Running | Expired => return None,
    })
}

async fn claim_from(w: &World, id: &TaskId, max: usize) -> Vec<Delivery> {
    w.claim_with(Claim { queue: id.queue().clone(), sweep: true, ..want(max) }).await.deliveries
}

/// Causes the move.
async fn cause(w: &World, id: &TaskId, delivery: Option<&Delivery>, from: Status, to: Status) {
    match (from, to) {
        (Running, Running) => {
            w.advance(LEASE * 2);
            assert_eq!(claim_from(w, id, 1).await[0].lease.attempt, 2);
        }
        (Running, _) => {
            let settled = w.settle(delivery.unwrap(), verdict(to).unwrap()).await;
            assert_eq!(settled, Settled::Applied(to));
        }
        (_, Cancelled) => assert_eq!(w.cancel(id).await, CancelOutcome::Cancelled),
        (Queued, Pending) => {
            let later = Unique::new("k").on_conflict(OnConflict::Reschedule);
            let later = task("mover").queue(id.queue().as_str()).unique(later).delay(HOUR);
            assert_eq!(w.enqueue_again(later).await.id, *id);
        }
        (Queued, Running) => assert_eq!(claim_from(w, id, 1).await.len(), 1),
        (Pending | Retrying, Queued) => {
            // Promoted without being handed out: by a claim that is full with an older task of higher priority.
            let first = task("first").queue(id.queue().as_str()).priority(9);
            w.enqueue(first).await;
            w.advance(HOUR);
            assert_ne!(claim_from(w, id, 1).await[0].lease.task, *id);
        }
        (_, Expired) => {
            w.advance(HOUR);
            assert!(claim_from(w, id, 1).await.is_empty());
        }
        other => panic!("no way is known for {other:?}: teach it to this check"),
    }
}

pub(crate) async fn every_allowed_move_happens(w: &World) {
    for &(from, to, _) in TRANSITIONS {
        let (id, delivery) = start(w, from, to).await;
        cause(w, &id, delivery.as_ref(), from, to).await;
        assert_eq!(w.status(&id).await, to, "from {from}");
    }
}

pub(crate) async fn every_move_keeps_the_counts_right(w: &World) {
    for &(from, to, _) in TRANSITIONS {
        let (id, delivery) = start(w, from, to).await;
        cause(w, &id, delivery.as_ref(), from, to).await;
        let stats = w.stats_of(id.queue().as_str()).await;
        // The move itself may have needed a second, running task.
        let helper = matches!((from, to), (Pending | Retrying, Queued));
        assert_eq!(stats.unfinished(), u64::from(!to.is_terminal()) + u64::from(helper), "{from} to {to}: {stats:?}");
        assert_eq!(stats.of(to), 1, "{from} to {to}: {stats:?}");
    }
}

pub(crate) async fn every_move_is_told(w: &World) {
    for &(from, to, _) in TRANSITIONS {
        let (id, delivery) = start(w, from, to).await;
        let before = w.events_of(&id).await.len();
        cause(w, &id, delivery.as_ref(), from, to).await;
        let expected: &[EventKind] = match (from, to) {
            (Running, Running) => &[EventKind::Reclaimed, EventKind::Started],
            (Running, Queued) => &[EventKind::Released],
            (Retrying, Queued) => &[EventKind::Retried],
            (_, Queued) => &[EventKind::Queued],
            (_, Running) => &[EventKind::Started],
            (_, Pending | Retrying) => &[EventKind::RetryScheduled],
            (_, Succeeded) => &[EventKind::Succeeded],
            (_, Failed) => &[EventKind::Failed],
            (_, DeadLettered) => &[EventKind::DeadLettered],
            (_, Cancelled) => &[EventKind::Cancelled],
            (_, Expired) => &[EventKind::Expired],
        };
        assert_eq!(&w.events_of(&id).await[before..], expected, "{from} to {to}");
    }
}

/// A task in `status` and a lease on it that is not current: its own latest one, if it ever ran.
async fn with_old_lease(w: &World, status: Status) -> Delivery {
    let new = task("mover").queue(&format!("at-{status}"));
    match status {
        Queued | Pending => {
            let delivery = w.running(new).await;
            match status {
                Queued => w.release(&delivery).await,
                _ => w.snooze(&delivery, HOUR).await,
            }
            delivery
        }
        Cancelled | Expired => {
            let mut delivery = w.running(task("other").queue("other")).await;
            w.advance(Duration::from_secs(1));
            delivery.lease.task = w.bring(status, new).await.id;
            delivery
        }
        _ => w.bring(status, new).await.delivery.expect("it ran"),
    }
}

/// Settles with a lease that is not current, in every way but the one that brought it here, and expects no change.
async fn nothing_settles(w: &World, status: Status) {
    let delivery = with_old_lease(w, status).await;
    let before = w.snapshot(&delivery.lease.task).await;
    for to in Status::ALL.into_iter().filter(|&to| to != status) {
        let Some(verdict) = verdict(to) else { continue };
        if [status, to].iter().all(|it| [Failed, DeadLettered].contains(it)) {
            // One verdict: which of the two it leads to is the policy's choice.
            continue;
        }
        assert_eq!(w.settle(&delivery, verdict).await, Settled::Stale, "{status} to {to}");
    }
    assert_eq!(w.renew(&[&delivery.lease]).await, [Renewed::Lost], "{status}");
    assert_eq!(w.snapshot(&delivery.lease.task).await, before, "{status}");
}

pub(crate) async fn what_does_not_run_cannot_be_settled(w: &World) {
    for status in [Pending, Queued, Retrying] {
        nothing_settles(w, status).await;
    }
}

pub(crate) async fn what_is_finished_cannot_be_settled_otherwise(w: &World) {
    for status in [Succeeded, Failed, DeadLettered, Cancelled, Expired] {
        nothing_settles(w, status).await;
    }
}

pub(crate) async fn what_is_finished_is_never_claimed_or_cancelled(w: &World) {
    for status in [Succeeded, Failed, DeadLettered, Cancelled, Expired] {
        let id = w.bring_to(status).await.id;
        let before = w.snapshot(&id).await;
        assert!(claim_from(w, &id, 10).await.is_empty(), "{status}");
        assert_eq!(w.cancel(&id).await, CancelOutcome::AlreadyFinished(status));
        w.advance(LEASE * 2);
        assert!(claim_from(w, &id, 10).await.is_empty(), "{status}");
        assert_eq!(w.snapshot(&id).await, before, "{status}");
    }
}

pub(crate) async fn time_alone_changes_no_status(w: &World) {
    let mut brought = Vec::new();
    for status in [Pending, Queued, Running, Retrying] {
        brought.push((status, w.bring_to(status).await.id));
    }
    // No claim, no move: promotion, takeover and expiry happen in claims.
    w.advance(HOUR * 24 * 50);
    for (status, id) in brought {
        assert_eq!(w.status(&id).await, status);
    }
}

checks! {
    state:
    every_allowed_move_happens,
    every_move_keeps_the_counts_right,
    every_move_is_told,
    what_does_not_run_cannot_be_settled,
    what_is_finished_cannot_be_settled_otherwise,
    what_is_finished_is_never_claimed_or_cancelled,
    time_alone_changes_no_status,
}
