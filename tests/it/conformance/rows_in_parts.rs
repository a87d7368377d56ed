//! Rows of which several workers hold parts, and batches in which some settlements are not like the others.

use std::time::Duration;

use dtq::store::{BATCH, Claim, Settled, Settlement, TaskQuery, Verdict};
use dtq::types::{Delivery, EventKind, ListOrder, Status, TaskFilter};
use dtq_tests::{DEFAULT, RETENTION, World, failure, in_rows, queue, task, want, worker};

use super::rows::{RETENTIONS, ROW, ids, records, succeed_all};

const MINUTE: Duration = Duration::from_secs(60);
/// Two rows and the begin of a third one.
const MANY: usize = 2 * BATCH + 44;

async fn settle(w: &World, settlements: impl IntoIterator<Item = (Delivery, Verdict)>) -> Vec<Settled> {
    let settlements = settlements.into_iter().map(|(delivery, verdict)| Settlement { delivery, verdict });
    w.store().settle(settlements.collect()).await.expect("settle")
}

const DONE: Verdict = Verdict::Succeeded { result: None };

pub(crate) async fn claims_of_any_size_take_them_in_order(w: &World) {
    for max in [1, 3, BATCH - 1, BATCH] {
        let queued = w.enqueue_many(MANY, || task("a").retention(Duration::ZERO)).await;
        let mut started = 0;
        while started < MANY {
            let claimed = w.claim_with(want(max)).await;
            let expected = max.min(MANY - started);
            assert_eq!(ids(&claimed.deliveries), queued[started..started + expected]);
            started += expected;
            assert_eq!(claimed.more, started < MANY);
            succeed_all(w, &claimed.deliveries).await;
        }
        assert_eq!(w.stats().await.unfinished(), 0);
        for id in [&queued[0], &queued[BATCH], &queued[MANY - 1]] {
            assert_eq!(w.events_of(id).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
        }
    }
}

pub(crate) async fn workers_take_parts_and_end_them_in_any_order(w: &World) {
    for retention in RETENTIONS {
        let queued = w.enqueue_many(MANY, || task("a").retention(retention)).await;
        let mut held: Vec<Delivery> = Vec::new();
        for round in 0.. {
            let (name, max) = [("w1", 1), ("w2", 30), ("w3", 7)][round % 3];
            let claim = Claim { worker: worker(name), ..want(max) };
            let more = w.claim_with(claim).await.deliveries;
            if more.is_empty() {
                break;
            }
            held.extend(more);
        }
        assert_eq!(ids(&held), queued);
        // 7 has no factor in common with their number: each comes once, far from its neighbours.
        let mixed: Vec<_> = (0..MANY).map(|n| held[n * 7 % MANY].clone()).collect();
        for part in mixed.chunks(40) {
            succeed_all(w, part).await;
        }
        let stats = w.stats().await;
        assert_eq!(stats.unfinished(), 0);
        let kept = records(w, &queued).await;
        assert!(kept.iter().all(|record| record.is_some() != retention.is_zero()));
        assert!(kept.into_iter().flatten().all(|record| record.status == Status::Succeeded && record.attempt == 1));
    }
    assert_eq!(w.stats().await.succeeded, 2 * MANY as u64);
}

pub(crate) async fn all_verdicts_mix_in_one_batch(w: &World) {
    for retention in RETENTIONS {
        w.enqueue_many(BATCH, || task("a").retention(retention)).await;
        let held = w.claim(BATCH).await;
        let verdicts = [
            DONE,
            Verdict::Retry { delay: MINUTE, failure: failure("again") },
            Verdict::Succeeded { result: Some("1".into()) },
            Verdict::Snooze { delay: MINUTE },
            Verdict::Failed { failure: failure("no") },
            Verdict::Cancelled { reason: "moot".into() },
            Verdict::Release,
        ];
        let mixed: Vec<_> = held.into_iter().zip(verdicts.into_iter().cycle()).collect();
        let expected: Vec<_> = mixed.iter().map(|(_, verdict)| Settled::Applied(verdict.target(true))).collect();
        assert_eq!(settle(w, mixed.clone()).await, expected);
        for ((delivery, _), settled) in mixed.iter().zip(expected) {
            let Settled::Applied(status) = settled else { panic!("{settled:?}") };
            let kept = w.get(&delivery.lease.task).await.map(|record| record.status);
            let is_gone = retention.is_zero() && matches!(status, Status::Succeeded | Status::Cancelled);
            assert_eq!(kept, (!is_gone).then_some(status));
        }
        w.advance(MINUTE);
        succeed_all(w, &w.drain(want(BATCH)).await).await;
        assert_eq!(w.stats().await.unfinished(), 0);
    }
}

pub(crate) async fn a_stale_one_is_refused_and_the_others_are_applied(w: &World) {
    for retention in RETENTIONS {
        w.enqueue_many(ROW, || task("a").retention(retention)).await;
        let held = w.claim(ROW).await;
        // In the midst: one ended, one was given back and started again, one lease was never given out.
        w.fail(&held[1]).await;
        w.release(&held[3]).await;
        let again = w.claim_one().await;
        let mut forged = held.clone();
        forged[5].lease.token = held[6].lease.token.clone();
        let stale = [1, 3, 5];
        let answers = settle(w, forged.iter().cloned().map(|delivery| (delivery, DONE))).await;
        for (n, answer) in answers.into_iter().enumerate() {
            let expected = if stale.contains(&n) { Settled::Stale } else { Settled::Applied(Status::Succeeded) };
            assert_eq!(answer, expected, "{n}");
        }
        assert_eq!(w.stats().await.running, 2);
        succeed_all(w, &[again, held[5].clone()]).await;
        assert_eq!(w.stats().await.unfinished(), 0);
    }
}

pub(crate) async fn settlements_sent_twice_count_once(w: &World) {
    for (verdict, retention) in
        [(DONE, RETENTION), (Verdict::Succeeded { result: Some("1".into()) }, RETENTION), (DONE, Duration::ZERO)]
    {
        let before = w.stats().await.succeeded;
        let queued = w.enqueue_many(ROW, || task("a").retention(retention)).await;
        let held = w.claim(ROW).await;
        let part: Vec<_> = held[2..5].iter().cloned().map(|delivery| (delivery, verdict.clone())).collect();
        let first = settle(w, part.clone()).await;
        assert_eq!(first, [Settled::Applied(Status::Succeeded); 3]);
        let (seen, stats) = (records(w, &queued).await, w.stats().await);
        // Of what is forgotten nobody can tell how it ended.
        let known = if retention.is_zero() { Settled::Stale } else { first[0] };
        assert_eq!(settle(w, part).await, [known; 3]);
        assert_eq!((records(w, &queued).await, w.stats().await), (seen, stats));
        let whole = settle(w, held.iter().cloned().map(|delivery| (delivery, verdict.clone()))).await;
        let applied = Settled::Applied(Status::Succeeded);
        assert_eq!(whole, [applied, applied, known, known, known, applied, applied]);
        let stats = w.stats().await;
        assert_eq!((stats.succeeded - before, stats.unfinished()), (ROW as u64, 0));
    }
}

pub(crate) async fn those_that_the_worker_never_heard_of_come_again(w: &World) {
    for retention in RETENTIONS {
        let queued = w.enqueue_many(ROW, || task("a").retention(retention)).await;
        let heard = w.claim(2).await;
        w.claim(3).await;
        let holding = Some(heard.iter().map(|delivery| delivery.lease.clone()).collect());
        let again = w.claim_with(Claim { holding, ..want(ROW) }).await.deliveries;
        assert_eq!(ids(&again), queued[2..]);
        assert!(again.iter().all(|delivery| delivery.lease.attempt == 1 && !delivery.reclaimed));
        succeed_all(w, &[again, heard].concat()).await;
        assert_eq!(w.stats().await.unfinished(), 0);
        assert_eq!(w.events_of(&queued[3]).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    }
}

pub(crate) async fn leases_of_an_earlier_life_are_worth_nothing(w: &World) {
    let row: Vec<_> = in_rows((0..ROW).map(|_| task("a").retention(Duration::ZERO).build()).collect());
    let mut old = Vec::new();
    for _ in 0..3 {
        assert!(w.enqueue_all(row.clone()).await.iter().all(|it| it.created));
        let held = w.claim(4).await;
        let late = settle(w, old.iter().cloned().map(|delivery| (delivery, DONE))).await;
        assert_eq!(late, vec![Settled::Stale; old.len()]);
        let stats = w.stats().await;
        assert_eq!((stats.queued, stats.running), (3, 4));
        let all = [held, w.claim(ROW).await].concat();
        succeed_all(w, &all).await;
        old.extend(all);
    }
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn they_are_listed_by_their_status(w: &World) {
    let queued = w.enqueue_many(ROW, || task("a")).await;
    let held = w.claim(4).await;
    w.retry(&held[1], MINUTE).await;
    w.cancel(&queued[5]).await;
    let list = async |status| {
        let (queue, filter) = (queue(DEFAULT), TaskFilter::default());
        let query =
            TaskQuery { queue, statuses: vec![status], filter, order: ListOrder::OldestFirst, after: None, limit: 2 };
        w.list(query).await.into_iter().map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(list(Status::Queued).await, [queued[4].clone(), queued[6].clone()]);
    assert_eq!(list(Status::Running).await, [0, 2, 3].map(|n| queued[n].clone()));
    assert_eq!(list(Status::Retrying).await, queued[1..2]);
    assert_eq!(list(Status::Cancelled).await, queued[5..6]);
}

checks! {
    rows_in_parts:
    claims_of_any_size_take_them_in_order,
    workers_take_parts_and_end_them_in_any_order,
    all_verdicts_mix_in_one_batch,
    a_stale_one_is_refused_and_the_others_are_applied,
    settlements_sent_twice_count_once,
    those_that_the_worker_never_heard_of_come_again,
    leases_of_an_earlier_life_are_worth_nothing,
    they_are_listed_by_their_status,
}
