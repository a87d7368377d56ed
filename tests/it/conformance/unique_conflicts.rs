//! What becomes of a submission while another task holds its unique key.

use std::time::Duration;

use dtq::store::{Accepted, Claim, Refusal, Verdict};
use dtq::types::{EventKind, OnConflict, Status, TaskId, Unique};
use dtq_tests::{LEASE, TaskBuilder, World, task, want, worker};

const MINUTE: Duration = Duration::from_secs(60);

fn unique(on_conflict: OnConflict) -> TaskBuilder {
    task("a").unique(Unique::new("k").on_conflict(on_conflict))
}

fn answered(holder: &TaskId) -> Accepted {
    Accepted { id: holder.clone(), created: false, refused: None }
}

fn refused(holder: &TaskId) -> Accepted {
    Accepted { refused: Some(Refusal::Unique), ..answered(holder) }
}

pub(crate) async fn a_skipped_submission_changes_nothing(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Running, Status::Retrying] {
        let brought = w.bring(status, unique(OnConflict::Skip)).await;
        let before = w.snapshot(&brought.id).await;
        let again = w.enqueue_again(unique(OnConflict::Skip).payload("other").delay(MINUTE).priority(9)).await;
        assert_eq!(again, answered(&brought.id), "{status}");
        assert_eq!(w.snapshot(&brought.id).await, before, "{status}");
        match brought.delivery.filter(|_| status == Status::Running) {
            Some(delivery) => w.succeed(&delivery).await,
            None => drop(w.cancel(&brought.id).await),
        }
    }
}

pub(crate) async fn a_running_or_finished_holder_is_not_changed(w: &World) {
    let period = |on_conflict| {
        let key = Unique::new("k").until(dtq::types::Until::Period(MINUTE)).on_conflict(on_conflict);
        task("a").unique(key).payload("new").delay(MINUTE)
    };
    let held = w.running(period(OnConflict::Error).delay(Duration::ZERO)).await;
    for done in [false, true] {
        if done {
            w.succeed(&held).await;
        }
        let before = w.snapshot(&held.lease.task).await;
        for on_conflict in [OnConflict::Replace, OnConflict::Reschedule, OnConflict::Error] {
            assert_eq!(w.enqueue_again(period(on_conflict)).await, refused(&held.lease.task));
        }
        assert_eq!(w.enqueue_again(period(OnConflict::Skip)).await, answered(&held.lease.task));
        assert_eq!(w.snapshot(&held.lease.task).await, before);
    }
}

/// Replaces the arguments of a task in this status; gives the id.
async fn replaced(w: &World, status: Status) -> TaskId {
    let old = unique(OnConflict::Replace).payload("\"old\"").priority(3).max_attempts(9);
    let id = w.bring(status, old).await.id;
    let (before, events) = (w.record(&id).await, w.events_of(&id).await);
    let again = w.enqueue_again(unique(OnConflict::Replace).payload("\"new\"").priority(8).delay(MINUTE)).await;
    assert_eq!(again, answered(&id), "{status}");
    let after = w.record(&id).await;
    assert_eq!(after.payload.as_ref(), b"\"new\"", "{status}");
    assert_eq!(dtq::types::Record { payload: before.payload.clone(), ..after }, before, "{status}");
    assert_eq!(w.events_of(&id).await, events, "{status}");
    id
}

pub(crate) async fn newest_arguments_run(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Retrying] {
        let id = replaced(w, status).await;
        w.advance(MINUTE * 60);
        let held = w.claim_one().await;
        assert_eq!((&held.lease.task, held.payload.as_ref()), (&id, &b"\"new\""[..]), "{status}");
        assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");
        w.succeed(&held).await;
        assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");
    }
}

pub(crate) async fn newest_arguments_are_kept_by_every_later_step(w: &World) {
    let id = replaced(w, Status::Queued).await;
    let unheard = w.claim_one().await;
    let again = Claim { holding: Some(vec![]), ..want(1) };
    let held = w.claim_with(again).await.deliveries.remove(0);
    assert_eq!((&held.lease.task, &held.payload), (&unheard.lease.task, &unheard.payload));
    w.cancel(&id).await;
    assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");
    w.succeed(&held).await;

    let id = replaced(w, Status::Queued).await;
    w.claim_one().await;
    w.advance(LEASE + MINUTE);
    let taken = w.claim_with(Claim { worker: worker("w2"), sweep: true, ..want(1) }).await.deliveries.remove(0);
    assert_eq!(taken.payload.as_ref(), b"\"new\"");
    w.settle(&taken, Verdict::Release).await;
    assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");
    let taken = w.claim_one().await;
    assert_eq!(taken.payload.as_ref(), b"\"new\"");
    w.retry(&taken, MINUTE).await;
    w.advance(MINUTE);
    let taken = w.claim_one().await;
    assert_eq!(taken.payload.as_ref(), b"\"new\"");
    w.fail(&taken).await;
    assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");

    let id = replaced(w, Status::Queued).await;
    w.cancel(&id).await;
    assert_eq!(w.record(&id).await.payload.as_ref(), b"\"new\"");
    let id = w.enqueue(unique(OnConflict::Replace).ttl(MINUTE)).await;
    w.enqueue_again(unique(OnConflict::Replace).payload("\"new\"")).await;
    w.advance(MINUTE * 2);
    assert!(w.claim(1).await.is_empty());
    let record = w.record(&id).await;
    assert_eq!((record.status, record.payload.as_ref()), (Status::Expired, &b"\"new\""[..]));

    let id = w.enqueue(unique(OnConflict::Replace).max_attempts(1)).await;
    w.enqueue_again(unique(OnConflict::Replace).payload("\"new\"")).await;
    w.claim_one().await;
    w.advance(LEASE + MINUTE);
    assert!(w.sweep(1).await.is_empty());
    let record = w.record(&id).await;
    assert_eq!((record.status, record.payload.as_ref()), (Status::DeadLettered, &b"\"new\""[..]));
}

pub(crate) async fn a_replaced_task_keeps_its_place(w: &World) {
    let first = w.enqueue(unique(OnConflict::Replace)).await;
    let second = w.enqueue(task("b")).await;
    for n in 0..20 {
        w.enqueue_again(unique(OnConflict::Replace).payload(n.to_string())).await;
    }
    let held = w.claim(2).await;
    assert_eq!([&held[0].lease.task, &held[1].lease.task], [&first, &second]);
    assert_eq!(held[0].payload.as_ref(), b"19");
}

/// Puts a task of this status off by two hours.
async fn put_off(w: &World, status: Status, task: TaskBuilder) -> TaskId {
    let id = w.bring(status, task).await.id;
    let again = w.enqueue_again(unique(OnConflict::Reschedule).payload("\"new\"").delay(MINUTE * 120)).await;
    assert_eq!(again, answered(&id), "{status}");
    id
}

pub(crate) async fn a_waiting_task_takes_the_new_due_time(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Retrying] {
        let attempt = if status == Status::Retrying { 2 } else { 1 };
        let id = put_off(w, status, unique(OnConflict::Error).payload("\"old\"")).await;
        assert_eq!(w.events_of(&id).await.last(), Some(&EventKind::RetryScheduled), "{status}");
        let stats = w.stats().await;
        assert_eq!((stats.unfinished(), stats.queued), (1, 0), "{status}");
        assert_eq!(stats.retrying, u64::from(status == Status::Retrying));
        w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE * 120);
        w.advance(MINUTE * 119);
        assert!(w.claim(1).await.is_empty(), "{status}");
        w.advance(MINUTE);
        let held = w.claim_one().await;
        assert_eq!((&held.lease.task, held.lease.attempt), (&id, attempt), "{status}");
        assert_eq!(held.payload.as_ref(), b"\"old\"");
        w.succeed(&held).await;
    }
    assert_eq!(w.stats().await.retries, 1);
}

pub(crate) async fn a_waiting_task_can_be_brought_forward(w: &World) {
    for status in [Status::Pending, Status::Retrying] {
        let id = w.bring(status, unique(OnConflict::Error)).await.id;
        assert!(w.claim(1).await.is_empty());
        assert_eq!(w.enqueue_again(unique(OnConflict::Reschedule)).await, answered(&id));
        let held = w.claim_one().await;
        assert_eq!(held.lease.task, id);
        w.succeed(&held).await;
    }
    let id = w.enqueue(unique(OnConflict::Error)).await;
    let before = (w.snapshot(&id).await, w.events_of(&id).await);
    assert_eq!(w.enqueue_again(unique(OnConflict::Reschedule)).await, answered(&id), "it is ready as it is");
    assert_eq!((w.snapshot(&id).await, w.events_of(&id).await), before);
}

pub(crate) async fn a_task_that_is_put_off_keeps_what_it_had(w: &World) {
    let policy = unique(OnConflict::Error).payload("\"old\"").priority(8).max_attempts(3).ttl(MINUTE * 300);
    let id = put_off(w, Status::Queued, policy.clone()).await;
    let record = w.record(&id).await;
    assert_eq!((record.status, record.policy, record.priority.level()), (Status::Pending, policy.build().policy, 8));
    assert_eq!((record.payload.as_ref(), record.unique_key.as_deref()), (&b"\"old\""[..], Some("k")));
    w.cancel(&id).await;
    w.enqueue(unique(OnConflict::Error)).await;
}

pub(crate) async fn conflicts_within_one_batch_meet_the_task_of_that_batch(w: &World) {
    let put_off = |n: u32| unique(OnConflict::Reschedule).delay(MINUTE * n).build();
    let answers = w.enqueue_all(vec![put_off(0), put_off(5), put_off(3), task("b").build()]).await;
    assert_eq!(answers.iter().map(|it| it.created).collect::<Vec<_>>(), [true, false, false, true]);
    assert_eq!((&answers[1].id, &answers[2].id), (&answers[0].id, &answers[0].id));
    let kinds = w.events_of(&answers[0].id).await;
    assert_eq!(kinds, [EventKind::Queued, EventKind::RetryScheduled, EventKind::RetryScheduled]);
    assert_eq!(w.claim_one().await.lease.task, answers[3].id);
    w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE * 3);
    let replace = |n: usize| task("c").unique(Unique::new("k").on_conflict(OnConflict::Replace)).payload(n.to_string());
    w.enqueue_all((0..200).map(|n| replace(n).build()).collect()).await;
    assert_eq!(w.claim_one().await.payload.as_ref(), b"199");
}

checks! {
    unique_conflicts:
    a_skipped_submission_changes_nothing,
    a_running_or_finished_holder_is_not_changed,
    newest_arguments_run,
    newest_arguments_are_kept_by_every_later_step,
    a_replaced_task_keeps_its_place,
    a_waiting_task_takes_the_new_due_time,
    a_waiting_task_can_be_brought_forward,
    a_task_that_is_put_off_keeps_what_it_had,
    conflicts_within_one_batch_meet_the_task_of_that_batch,
}
