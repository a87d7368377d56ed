//! A cancellation beside something else that happens to the task at the same time: one stated winner each, whichever comes
//! first.
//!
//! | beside | the cancellation is answered | the task ends as |
//! |---|---|---|
//! | success | already finished | succeeded |
//! | | requested | succeeded: what was done is done |
//! | failure, retry, snooze, release, takeover | cancelled, or requested | cancelled |
//! | failure for good | already finished | dead-lettered: it came first |
//! | claim | cancelled | cancelled, and was never handed out |
//! | | requested | as its handler ends |

use std::sync::Arc;
use std::time::Duration;

use dtq::store::{CancelOutcome, CancelRequest, Claim, Settled, Settlement, Store, Verdict};
use dtq::types::{By, Delivery, EventKind, Status, TaskId};
use dtq_tests::{LEASE, World, failure, promptly, task, want, worker};

const ROUNDS: usize = 60;

async fn cancel(store: Arc<dyn Store>, id: TaskId) -> CancelOutcome {
    store.cancel(CancelRequest { id, by: By::new("a test", "called off") }).await.unwrap()
}

async fn settle(store: Arc<dyn Store>, delivery: Delivery, verdict: Verdict) -> Settled {
    store.settle(vec![Settlement { delivery, verdict }]).await.unwrap().remove(0)
}

/// Two stores, so that neither call waits for the other in this process.
async fn pair(w: &World) -> (Arc<dyn Store>, Arc<dyn Store>) {
    (w.store(), w.second_store().await)
}

/// Settles and cancels a running task at the same time; gives both answers and the status in the end.
async fn beside(
    stores: &(Arc<dyn Store>, Arc<dyn Store>),
    w: &World,
    verdict: &Verdict,
    cancel_first: bool,
) -> (CancelOutcome, Settled, TaskId) {
    let delivery = w.running(task("a")).await;
    let id = delivery.lease.task.clone();
    let settles = tokio::spawn(settle(stores.0.clone(), delivery, verdict.clone()));
    let cancels = tokio::spawn(cancel(stores.1.clone(), id.clone()));
    let (settled, outcome) = if cancel_first {
        let outcome = promptly("cancel", cancels).await.unwrap();
        (promptly("settle", settles).await.unwrap(), outcome)
    } else {
        (promptly("settle", settles).await.unwrap(), promptly("cancel", cancels).await.unwrap())
    };
    (outcome, settled, id)
}

/// One end in the log, and the one that the record tells.
async fn assert_one_end(w: &World, id: &TaskId, status: Status) {
    let record = w.record(id).await;
    assert_eq!(record.status, status);
    let ends = |kind: &EventKind| {
        matches!(kind, EventKind::Succeeded | EventKind::Failed | EventKind::DeadLettered | EventKind::Cancelled)
    };
    assert_eq!(w.events_of(id).await.iter().filter(|kind| ends(kind)).count(), 1);
    if status == Status::Cancelled {
        assert_eq!(record.last_failure().unwrap().message, "called off", "the reason is kept");
    }
}

pub(crate) async fn a_success_wins(w: &World) {
    let stores = pair(w).await;
    for round in 0..ROUNDS {
        let verdict = Verdict::Succeeded { result: None };
        let (outcome, settled, id) = beside(&stores, w, &verdict, round % 2 == 0).await;
        assert!(matches!(outcome, CancelOutcome::Requested | CancelOutcome::AlreadyFinished(Status::Succeeded)));
        assert_eq!(settled, Settled::Applied(Status::Succeeded));
        assert_one_end(w, &id, Status::Succeeded).await;
    }
}

pub(crate) async fn a_failure_for_good_wins_only_when_it_came_first(w: &World) {
    let stores = pair(w).await;
    for round in 0..ROUNDS {
        let verdict = Verdict::Failed { failure: failure("broke") };
        let (outcome, settled, id) = beside(&stores, w, &verdict, round % 2 == 0).await;
        let status = match outcome {
            CancelOutcome::Requested => Status::Cancelled,
            CancelOutcome::AlreadyFinished(Status::DeadLettered) => Status::DeadLettered,
            other => panic!("{other:?}"),
        };
        assert_eq!(settled, Settled::Applied(status));
        assert_one_end(w, &id, status).await;
    }
}

pub(crate) async fn a_cancellation_wins_over_going_on(w: &World) {
    let stores = pair(w).await;
    let verdicts = [
        (Verdict::Retry { delay: Duration::from_secs(3600), failure: failure("again") }, Status::Retrying),
        (Verdict::Snooze { delay: Duration::from_secs(3600) }, Status::Pending),
        (Verdict::Release, Status::Queued),
    ];
    for round in 0..ROUNDS {
        let (verdict, waits) = &verdicts[round % 3];
        let (outcome, settled, id) = beside(&stores, w, verdict, round % 2 == 0).await;
        match outcome {
            // Before the settlement, which then obeyed.
            CancelOutcome::Requested => assert_eq!(settled, Settled::Applied(Status::Cancelled)),
            // After it.
            CancelOutcome::Cancelled => assert_eq!(settled, Settled::Applied(*waits)),
            other => panic!("{other:?}"),
        }
        assert_one_end(w, &id, Status::Cancelled).await;
    }
    assert_eq!(w.stats().await.unfinished(), 0);
    assert!(w.claim(10).await.is_empty());
}

pub(crate) async fn a_cancellation_beside_a_takeover_is_not_lost(w: &World) {
    let stores = pair(w).await;
    for _ in 0..ROUNDS {
        let lost = w.running(task("a")).await;
        let id = lost.lease.task.clone();
        w.advance(LEASE * 2);
        let sweep = Claim { worker: worker("w2"), sweep: true, ..want(1) };
        let taker = stores.0.clone();
        let takes = tokio::spawn(async move { taker.claim(sweep).await.unwrap().deliveries });
        let outcome = promptly("cancel", cancel(stores.1.clone(), id.clone())).await;
        let taken = promptly("sweep", takes).await.unwrap();
        match (outcome, taken.first()) {
            // Before: whoever looks for lost tasks ends it.
            (CancelOutcome::Requested, None) => {}
            // After: the new owner is told, and its old one has nothing more to say.
            (CancelOutcome::Requested, Some(next)) => {
                assert_eq!(w.settle(&lost, Verdict::Succeeded { result: None }).await, Settled::Stale);
                let verdict = Verdict::Retry { delay: Duration::ZERO, failure: failure("stops") };
                assert_eq!(w.settle(next, verdict).await, Settled::Applied(Status::Cancelled));
            }
            (CancelOutcome::AlreadyFinished(_), _) => panic!("nobody finished it"),
            other => panic!("{other:?}"),
        }
        assert_one_end(w, &id, Status::Cancelled).await;
    }
}

pub(crate) async fn a_cancellation_beside_a_claim_stops_it_or_is_told(w: &World) {
    let stores = pair(w).await;
    for _ in 0..ROUNDS {
        let id = w.enqueue(task("a")).await;
        let claimer = stores.0.clone();
        let claims = tokio::spawn(async move { claimer.claim(want(1)).await.unwrap().deliveries });
        let outcome = promptly("cancel", cancel(stores.1.clone(), id.clone())).await;
        let claimed = promptly("claim", claims).await.unwrap();
        match (outcome, claimed.first()) {
            (CancelOutcome::Cancelled, None) => {}
            (CancelOutcome::Requested, Some(held)) => {
                w.settle_to(held, Verdict::Release, Status::Cancelled).await;
            }
            other => panic!("{other:?}"),
        }
        assert_one_end(w, &id, Status::Cancelled).await;
    }
}

checks! {
    cancel_races:
    a_success_wins,
    a_failure_for_good_wins_only_when_it_came_first,
    a_cancellation_wins_over_going_on,
    a_cancellation_beside_a_takeover_is_not_lost,
    a_cancellation_beside_a_claim_stops_it_or_is_told,
}
