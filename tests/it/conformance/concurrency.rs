//! Several workers and clients at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dtq::store::{CancelOutcome, CancelRequest, Claim, Settled, Settlement, Store, Verdict};
use dtq::types::{By, Delivery, EventKind, Status, TaskId};
use dtq_tests::{LEASE, World, failure, promptly, task, want, worker};
use tokio::task::JoinSet;

const ROUNDS: usize = 20;

/// Claims in pieces until nothing comes any more.
async fn claim_all(store: Arc<dyn Store>, name: String) -> Vec<Delivery> {
    let mut all = Vec::new();
    loop {
        let claim = Claim { worker: worker(&name), sweep: true, ..want(7) };
        let claimed = store.claim(claim).await.unwrap();
        if claimed.deliveries.is_empty() && !claimed.more {
            return all;
        }
        all.extend(claimed.deliveries);
    }
}

/// Lets four workers on two handles claim everything at the same time.
async fn four_claimers(w: &World) -> Vec<Delivery> {
    let stores = [w.store(), w.second_store().await];
    let mut claimers = JoinSet::new();
    for n in 0..4 {
        claimers.spawn(claim_all(stores[n % 2].clone(), format!("racer-{n}")));
    }
    promptly("four workers claim", claimers.join_all()).await.into_iter().flatten().collect()
}

fn assert_each_once(deliveries: &[Delivery], ids: &[TaskId]) {
    let mut counts: HashMap<&TaskId, usize> = ids.iter().map(|id| (id, 0)).collect();
    for delivery in deliveries {
        *counts.get_mut(&delivery.lease.task).expect("a task of ours") += 1;
    }
    let wrong: Vec<_> = counts.into_iter().filter(|&(_, count)| count != 1).collect();
    assert!(wrong.is_empty(), "not handed out exactly once: {wrong:?}");
}

async fn settle(store: Arc<dyn Store>, delivery: Delivery, verdict: Verdict) -> Settled {
    store.settle(vec![Settlement { delivery, verdict }]).await.unwrap().remove(0)
}

pub(crate) async fn two_claimers_never_share_a_task(w: &World) {
    let ids = w.enqueue_many(300, || task("a")).await;
    assert_each_once(&four_claimers(w).await, &ids);
}

pub(crate) async fn one_task_claimed_by_many_at_once_has_one_winner(w: &World) {
    for _ in 0..ROUNDS {
        let id = w.enqueue(task("a")).await;
        let won = four_claimers(w).await;
        assert_each_once(&won, std::slice::from_ref(&id));
        w.succeed(&won[0]).await;
        assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    }
}

pub(crate) async fn tasks_that_come_due_are_promoted_once(w: &World) {
    let ids = w.enqueue_many(200, || task("a").delay(Duration::from_secs(60))).await;
    w.advance(Duration::from_secs(61));
    assert_each_once(&four_claimers(w).await, &ids);
    for id in &ids[..5] {
        let kinds = w.events_of(id).await;
        assert_eq!(kinds, [EventKind::Queued, EventKind::Queued, EventKind::Started]);
    }
}

pub(crate) async fn lost_tasks_are_taken_over_by_one_worker(w: &World) {
    let ids = w.enqueue_many(100, || task("a")).await;
    w.claim(100).await;
    w.advance(LEASE + Duration::from_secs(1));
    let taken = four_claimers(w).await;
    assert_each_once(&taken, &ids);
    assert!(taken.iter().all(|delivery| delivery.lease.attempt == 2));
}

pub(crate) async fn a_settlement_and_a_takeover_do_not_both_win(w: &World) {
    let second = w.second_store().await;
    for _ in 0..ROUNDS {
        let held = w.running(task("a")).await;
        w.advance(LEASE + Duration::from_secs(1));
        let settling = tokio::spawn(settle(w.store(), held.clone(), Verdict::Succeeded { result: None }));
        let taking = tokio::spawn(claim_all(second.clone(), "taker".into()));
        let (settled, taken) = promptly("the race", async { tokio::join!(settling, taking) }).await;
        match (settled.unwrap(), taken.unwrap().pop()) {
            (Settled::Applied(Status::Succeeded), None) => {}
            (Settled::Stale, Some(taken)) => w.succeed(&taken).await,
            other => panic!("{other:?}"),
        }
        assert_eq!(w.status(&held.lease.task).await, Status::Succeeded);
    }
    let stats = w.stats().await;
    assert_eq!((usize::try_from(stats.succeeded).unwrap(), stats.unfinished()), (ROUNDS, 0));
}

pub(crate) async fn two_verdicts_on_one_lease_do_not_both_win(w: &World) {
    let second = w.second_store().await;
    for _ in 0..ROUNDS {
        let held = w.running(task("a")).await;
        let one = tokio::spawn(settle(w.store(), held.clone(), Verdict::Succeeded { result: None }));
        let two = tokio::spawn(settle(second.clone(), held.clone(), Verdict::Failed { failure: failure("x") }));
        let (one, two) = promptly("the race", async { tokio::join!(one, two) }).await;
        let status = w.status(&held.lease.task).await;
        match (one.unwrap(), two.unwrap()) {
            (Settled::Applied(Status::Succeeded), Settled::Stale) => assert_eq!(status, Status::Succeeded),
            (Settled::Stale, Settled::Applied(Status::DeadLettered)) => assert_eq!(status, Status::DeadLettered),
            other => panic!("{other:?}"),
        }
    }
    let stats = w.stats().await;
    assert_eq!(usize::try_from(stats.succeeded + stats.dead_lettered).unwrap(), ROUNDS);
}

pub(crate) async fn one_id_enqueued_by_many_at_once_is_made_once(w: &World) {
    let stores = [w.store(), w.second_store().await];
    for _ in 0..ROUNDS {
        let new = task("a").build();
        let mut racers = JoinSet::new();
        for n in 0..8 {
            let (store, new) = (stores[n % 2].clone(), new.clone());
            racers.spawn(async move { store.enqueue(vec![new]).await.unwrap().remove(0) });
        }
        let answers = promptly("the race", racers.join_all()).await;
        assert_eq!(answers.iter().filter(|accepted| accepted.created).count(), 1);
        assert!(answers.iter().all(|accepted| accepted.id == new.id));
        assert_eq!(w.events_of(&new.id).await, [EventKind::Queued]);
    }
    assert_eq!(w.drain(want(10)).await.len(), ROUNDS);
}

pub(crate) async fn a_cancellation_and_a_claim_agree_on_who_was_first(w: &World) {
    let second = w.second_store().await;
    for _ in 0..ROUNDS {
        let id = w.enqueue(task("a")).await;
        let (store, request) = (w.store(), CancelRequest { id: id.clone(), by: By::new("tests", "race") });
        let cancelling = tokio::spawn(async move { store.cancel(request).await.unwrap() });
        let claiming = tokio::spawn(claim_all(second.clone(), "claimer".into()));
        let (outcome, claimed) = promptly("the race", async { tokio::join!(cancelling, claiming) }).await;
        match (outcome.unwrap(), claimed.unwrap().pop()) {
            (CancelOutcome::Cancelled, None) => assert_eq!(w.status(&id).await, Status::Cancelled),
            (CancelOutcome::Requested, Some(delivery)) => {
                assert!(w.record(&id).await.cancel_requested);
                w.drop_task(&delivery).await;
            }
            other => panic!("{other:?}"),
        }
    }
    let stats = w.stats().await;
    assert_eq!((usize::try_from(stats.cancelled).unwrap(), stats.unfinished()), (ROUNDS, 0));
}

pub(crate) async fn many_producers_lose_nothing(w: &World) {
    let stores = [w.store(), w.second_store().await];
    let mut producers = JoinSet::new();
    for n in 0..8 {
        let store = stores[n % 2].clone();
        producers.spawn(async move {
            for _ in 0..10 {
                let batch = (0..5).map(|_| task("a").build()).collect();
                assert!(store.enqueue(batch).await.unwrap().iter().all(|accepted| accepted.created));
            }
        });
    }
    promptly("eight producers", producers.join_all()).await;
    assert_eq!(w.stats().await.queued, 400);
    assert_eq!(w.drain(want(128)).await.len(), 400);
}

pub(crate) async fn producers_and_workers_at_once_run_everything_once(w: &World) {
    let stores = [w.store(), w.second_store().await];
    let mut producers = JoinSet::new();
    for n in 0..4 {
        let store = stores[n % 2].clone();
        producers.spawn(async move {
            for _ in 0..25 {
                store.enqueue(vec![task("a").build()]).await.unwrap();
            }
        });
    }
    let mut workers = JoinSet::new();
    for n in 0..4 {
        let store = stores[n % 2].clone();
        workers.spawn(async move {
            let queue = dtq_tests::queue(dtq_tests::DEFAULT);
            loop {
                let claim = Claim { worker: worker(&format!("racer-{n}")), ..want(3) };
                let deliveries = store.claim(claim).await.unwrap().deliveries;
                let done = Verdict::Succeeded { result: None };
                let settlements: Vec<_> = deliveries
                    .into_iter()
                    .map(|delivery| Settlement { delivery, verdict: done.clone() })
                    .collect();
                let answers = store.settle(settlements).await.unwrap();
                assert!(answers.iter().all(|&settled| settled == Settled::Applied(Status::Succeeded)));
                if store.stats(&queue).await.unwrap().succeeded == 100 {
                    return;
                }
            }
        });
    }
    promptly("all at once", async { tokio::join!(producers.join_all(), workers.join_all()) }).await;
    let starts = w.events(&[dtq_tests::queue(dtq_tests::DEFAULT)]).await;
    assert_eq!(starts.iter().filter(|event| event.kind == EventKind::Started).count(), 100);
}

checks! {
    concurrency:
    two_claimers_never_share_a_task,
    one_task_claimed_by_many_at_once_has_one_winner,
    tasks_that_come_due_are_promoted_once,
    lost_tasks_are_taken_over_by_one_worker,
    a_settlement_and_a_takeover_do_not_both_win,
    two_verdicts_on_one_lease_do_not_both_win,
    one_id_enqueued_by_many_at_once_is_made_once,
    a_cancellation_and_a_claim_agree_on_who_was_first,
    many_producers_lose_nothing,
    producers_and_workers_at_once_run_everything_once,
}
