//! Tasks that stand in a row: whatever is done to one leaves its neighbours as they are, and all run to their end.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{BATCH, CancelOutcome, OnceEnd, OnceRequest, OnceState, Renewed, Settled, Settlement, Steer, Verdict};
use dtq::types::{Delivery, EventKind, OnConflict, Record, Status, TaskId, Unique, Until};
use dtq_tests::{LEASE, RETENTION, TaskBuilder, World, failure, in_rows, task, want};

const MINUTE: Duration = Duration::from_secs(60);
/// Tasks of a row.
pub(super) const ROW: usize = 7;
/// The one in the midst, to which something is done.
pub(super) const AT: usize = 3;
/// The time for which a row is remembered: kept, or gone at once.
pub(super) const RETENTIONS: [Duration; 2] = [RETENTION, Duration::ZERO];

pub(super) fn ids(deliveries: &[Delivery]) -> Vec<TaskId> {
    deliveries.iter().map(|delivery| delivery.lease.task.clone()).collect()
}

pub(super) fn neighbours<T: Clone>(row: &[T]) -> Vec<T> {
    [&row[..AT], &row[AT + 1..]].concat()
}

pub(super) async fn records(w: &World, ids: &[TaskId]) -> Vec<Option<Record>> {
    let mut records = Vec::new();
    for id in ids {
        records.push(w.get(id).await);
    }
    records
}

/// A row that runs.
async fn running(w: &World, like: impl Fn() -> TaskBuilder) -> Vec<Delivery> {
    let queued = w.enqueue_many(ROW, like).await;
    let held = w.claim(ROW).await;
    assert_eq!(ids(&held), queued);
    held
}

/// Lets all of them succeed in one batch, every other one with a result.
pub(super) async fn succeed_all(w: &World, held: &[Delivery]) {
    let settlements = held.iter().enumerate().map(|(n, delivery)| Settlement {
        delivery: delivery.clone(),
        verdict: Verdict::Succeeded { result: (n % 2 == 0).then(|| Bytes::from_static(b"1")) },
    });
    let answers = w.store().settle(settlements.collect()).await.expect("settle");
    assert_eq!(answers, vec![Settled::Applied(Status::Succeeded); held.len()]);
}

/// Lets all that is ready succeed, and asserts that it is these tasks, and that nothing else is left to do.
pub(super) async fn assert_run_out(w: &World, expected: &[TaskId]) {
    let held = w.drain(want(BATCH)).await;
    assert_eq!(ids(&held), expected);
    succeed_all(w, &held).await;
    assert_eq!(w.stats().await.unfinished(), 0);
}

async fn renew_all(w: &World, held: &[Delivery]) {
    let leases: Vec<_> = held.iter().map(|delivery| &delivery.lease).collect();
    assert_eq!(w.renew(&leases).await, vec![Renewed::Held; held.len()]);
}

pub(crate) async fn one_is_called_off_while_it_waits(w: &World) {
    for retention in RETENTIONS {
        let row = w.enqueue_many(ROW, || task("a").retention(retention)).await;
        let (others, before) = (neighbours(&row), records(w, &neighbours(&row)).await);
        assert_eq!(w.cancel(&row[AT]).await, CancelOutcome::Cancelled);
        assert_eq!(records(w, &others).await, before);
        let kept = (!retention.is_zero()).then_some(Status::Cancelled);
        assert_eq!(w.get(&row[AT]).await.map(|record| record.status), kept);
        let again = if retention.is_zero() {
            CancelOutcome::NotFound
        } else {
            CancelOutcome::AlreadyFinished(Status::Cancelled)
        };
        assert_eq!(w.cancel(&row[AT]).await, again);
        assert_run_out(w, &others).await;
    }
}

fn verdicts() -> [Verdict; 7] {
    [
        Verdict::Succeeded { result: Some("1".into()) },
        Verdict::Succeeded { result: None },
        Verdict::Retry { delay: MINUTE / 2, failure: failure("again") },
        Verdict::Snooze { delay: MINUTE / 2 },
        Verdict::Failed { failure: failure("no") },
        Verdict::Cancelled { reason: "moot".into() },
        Verdict::Release,
    ]
}

/// One of a row ends so, perhaps after it was asked to stop; then the others end, and it goes on where it is to.
async fn one_ends(w: &World, like: &TaskBuilder, asked: bool, verdict: Verdict) {
    let held = running(w, || fresh(like)).await;
    let (one, others) = (&held[AT], neighbours(&held));
    let before = records(w, &ids(&others)).await;
    if asked {
        assert_eq!(w.cancel(&one.lease.task).await, CancelOutcome::Requested);
    }
    let obeys = asked && !matches!(verdict, Verdict::Succeeded { .. });
    let status = if obeys { Status::Cancelled } else { verdict.target(one.policy.dead_letter) };
    w.settle_to(one, verdict, status).await;
    assert_eq!(records(w, &ids(&others)).await, before);
    assert_eq!(w.renew(&[&one.lease]).await, [Renewed::Lost]);
    if asked {
        renew_all(w, &others).await;
    }
    succeed_all(w, &others).await;
    w.advance(MINUTE);
    let rest = w.drain(want(BATCH)).await;
    let expected = match status {
        Status::Retrying => vec![2],
        Status::Pending | Status::Queued => vec![1],
        _ => vec![],
    };
    assert_eq!(rest.iter().map(|delivery| delivery.lease.attempt).collect::<Vec<_>>(), expected, "{status}");
    succeed_all(w, &rest).await;
    assert_eq!(w.stats().await.unfinished(), 0);
}

/// The same task with another id.
fn fresh(like: &TaskBuilder) -> TaskBuilder {
    like.clone().uuid(task("a").build().id.uuid())
}

pub(crate) async fn one_ends_in_each_way(w: &World) {
    for retention in RETENTIONS {
        for like in [task("a").retention(retention), task("a").retention(retention).no_dead_letter()] {
            for verdict in verdicts() {
                one_ends(w, &like, false, verdict).await;
            }
        }
    }
}

pub(crate) async fn one_is_asked_to_stop_and_ends_in_each_way(w: &World) {
    for retention in RETENTIONS {
        for like in [task("a").retention(retention), task("a").retention(retention).no_dead_letter()] {
            for verdict in verdicts() {
                one_ends(w, &like, true, verdict).await;
            }
        }
    }
}

pub(crate) async fn one_is_renewed_and_tells_of_itself(w: &World) {
    for retention in RETENTIONS {
        let held = running(w, || task("a").retention(retention)).await;
        let (one, before) = (&held[AT], records(w, &neighbours(&ids(&held))).await);
        renew_all(w, std::slice::from_ref(one)).await;
        w.tell_all(one).await;
        let (lease, key) = (one.lease.clone(), retention.as_secs().to_string());
        let request = OnceRequest { lease: lease.clone(), key: key.clone(), run: 1 };
        assert_eq!(w.store().begin_once(request).await.unwrap(), OnceState::Begun);
        let done = Some(("1".into(), MINUTE));
        assert!(w.store().end_once(OnceEnd { lease, key: key.clone(), run: 1, done }).await.unwrap());
        // Work that another of them did is done for all.
        let request = OnceRequest { lease: held[0].lease.clone(), key, run: 2 };
        assert_eq!(w.store().begin_once(request).await.unwrap(), OnceState::Done("1".into()));
        assert_eq!(records(w, &neighbours(&ids(&held))).await, before);
        assert_eq!(w.record(&one.lease.task).await.checkpoint.as_deref(), Some(&b"[7]"[..]));
        succeed_all(w, &held).await;
        assert_eq!(w.stats().await.unfinished(), 0);
    }
}

pub(crate) async fn those_that_wait_too_long_expire(w: &World) {
    for retention in RETENTIONS {
        let row = w.enqueue_many(ROW, || task("a").retention(retention).ttl(MINUTE)).await;
        let held = w.claim(AT).await;
        w.advance(MINUTE * 2);
        assert!(w.claim(ROW).await.is_empty());
        let expired = if retention.is_zero() { None } else { Some(Status::Expired) };
        for id in &row[AT..] {
            assert_eq!(w.get(id).await.map(|record| record.status), expired);
            assert_eq!(w.events_of(id).await, [EventKind::Queued, EventKind::Expired]);
        }
        succeed_all(w, &held).await;
        assert_eq!(w.stats().await.unfinished(), 0);
    }
}

pub(crate) async fn one_that_failed_is_requeued(w: &World) {
    for retention in RETENTIONS {
        let row = w.enqueue_many(ROW, || task("a").retention(retention)).await;
        let held = w.claim(AT + 1).await;
        w.fail(&held[AT]).await;
        let before = records(w, &neighbours(&row)).await;
        w.requeue(&row[AT]).await;
        assert_eq!(records(w, &neighbours(&row)).await, before);
        assert_eq!(w.settle(&held[AT], Verdict::Release).await, Settled::Stale);
        succeed_all(w, &held[..AT]).await;
        // It comes last by now.
        assert_run_out(w, &[&row[AT + 1..], &row[AT..=AT]].concat()).await;
    }
}

pub(crate) async fn dead_letters_of_a_row_are_discarded_and_removed(w: &World) {
    let held = running(w, || task("a")).await;
    let row = ids(&held);
    w.fail(&held[AT]).await;
    w.fail(&held[AT + 1]).await;
    let before = records(w, &row[..AT]).await;
    w.steer_one(&row[AT], Steer::Discard).await;
    w.steer_one(&row[AT + 1], Steer::Purge).await;
    assert_eq!(records(w, &row[..AT]).await, before);
    assert_eq!((w.status(&row[AT]).await, w.get(&row[AT + 1]).await), (Status::DeadLettered, None));
    assert_eq!(w.dead_letters().await, []);
    succeed_all(w, &[&held[..AT], &held[AT + 2..]].concat()).await;
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn one_has_keys(w: &World) {
    let unique = || Unique::new("u").until(Until::Finished).on_conflict(OnConflict::Skip);
    let mut row = in_rows((0..ROW).map(|_| task("a").build()).collect());
    row[AT] = task("a").id(&row[AT].id).key("k").unique(unique()).build();
    let row: Vec<_> = w.enqueue_all(row).await.into_iter().map(|accepted| accepted.id).collect();
    assert_eq!(w.find_by_key("k").await.as_ref(), Some(&row[AT]));
    let other = task("a").build().id;
    for again in [task("a").id(&other).key("k"), task("a").id(&other).unique(unique())] {
        let answer = w.enqueue_again(again).await;
        assert_eq!((&answer.id, answer.created), (&row[AT], false));
    }
    assert_run_out(w, &row).await;
    assert!(w.enqueue_again(task("a").id(&other).unique(unique())).await.created, "its end freed the key");
    assert_run_out(w, &[other]).await;
}

/// A worker dies that holds a part of a row.
async fn a_worker_is_lost(w: &World, attempts: u32) {
    let row = w.enqueue_many(ROW, || task("a").max_attempts(attempts)).await;
    let held = w.claim(AT).await;
    w.advance(LEASE * 2);
    let taken = w.sweep(BATCH).await;
    let told: Vec<_> = taken.iter().map(|delivery| (delivery.lease.task.clone(), delivery.lease.attempt)).collect();
    let again = if attempts > 1 { &row[..AT] } else { &[] };
    let expected = again.iter().map(|id| (id.clone(), 2)).chain(row[AT..].iter().map(|id| (id.clone(), 1)));
    assert_eq!(told, expected.collect::<Vec<_>>());
    // The old leases are refused, in one batch with the new ones.
    let settlements = held
        .iter()
        .chain(&taken)
        .map(|delivery| Settlement { delivery: delivery.clone(), verdict: Verdict::Succeeded { result: None } });
    let answers = w.store().settle(settlements.collect()).await.unwrap();
    assert_eq!(answers[..AT], [Settled::Stale; AT]);
    assert_eq!(answers[AT..], vec![Settled::Applied(Status::Succeeded); taken.len()]);
    let lost = if attempts > 1 { Status::Succeeded } else { Status::DeadLettered };
    for id in &row[..AT] {
        assert_eq!(w.status(id).await, lost);
    }
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn its_worker_is_lost(w: &World) {
    a_worker_is_lost(w, 5).await;
}

pub(crate) async fn its_worker_is_lost_in_the_last_attempt(w: &World) {
    a_worker_is_lost(w, 1).await;
}

checks! {
    rows:
    one_is_called_off_while_it_waits,
    one_ends_in_each_way,
    one_is_asked_to_stop_and_ends_in_each_way,
    one_is_renewed_and_tells_of_itself,
    those_that_wait_too_long_expire,
    one_that_failed_is_requeued,
    dead_letters_of_a_row_are_discarded_and_removed,
    one_has_keys,
    its_worker_is_lost,
    its_worker_is_lost_in_the_last_attempt,
}
