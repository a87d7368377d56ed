//! Calling off all tasks that match.

use std::time::Duration;

use dtq::store::{AuditQuery, BATCH, Renewed, Steer, Steered};
use dtq::types::{AuditAction, EventKind, Status};
use dtq::{BulkReport, Client};
use dtq_tests::{DEFAULT, World, queue, task};

const HOUR: Duration = Duration::from_secs(3600);

fn client(w: &World) -> Client {
    Client::with_store(w.store()).acting_as("ann")
}

/// Four tasks of a name: pending, queued, running and retrying.
async fn one_of_each(w: &World, name: &str) {
    for n in 0..2 {
        let held = w.running(task(name)).await;
        if n == 0 {
            w.retry(&held, HOUR).await;
        }
    }
    w.enqueue(task(name).delay(HOUR)).await;
    w.enqueue(task(name)).await;
}

pub(crate) async fn everything_unfinished_is_called_off(w: &World) {
    one_of_each(w, "a").await;
    w.bring(Status::Pending, task("b")).await;
    let report = client(w).tasks(&queue(DEFAULT)).cancel("moot").await.expect("cancel");
    assert_eq!(report, BulkReport { done: 4, requested: 1, left_alone: 0 });
    let stats = w.stats().await;
    assert_eq!((stats.unfinished(), stats.running, stats.cancelled), (1, 1, 4));
    let again = client(w).tasks(&queue(DEFAULT)).cancel("moot").await.expect("cancel");
    assert_eq!(again, BulkReport { requested: 1, ..BulkReport::default() });
}

pub(crate) async fn only_what_matches_is(w: &World) {
    one_of_each(w, "a").await;
    let queued = w.bring(Status::Queued, task("b")).await.id;
    let tasks = client(w).tasks(&queue(DEFAULT));
    let report = tasks.clone().task("b").cancel("x").await.expect("cancel");
    assert_eq!((report.done, w.status(&queued).await), (1, Status::Cancelled));
    let report = tasks.clone().status(Status::Pending).status(Status::Retrying).cancel("x").await.expect("cancel");
    assert_eq!(report, BulkReport { done: 2, ..BulkReport::default() });
    let report = tasks.clone().status(Status::Running).cancel("x").await.expect("cancel");
    assert_eq!(report, BulkReport { requested: 1, ..BulkReport::default() });
    let report = tasks.clone().status(Status::Succeeded).cancel("x").await.expect("cancel");
    assert_eq!(report, BulkReport::default(), "what is finished cannot be");
    let report = tasks.clone().older_than(HOUR).cancel("x").await.expect("cancel");
    assert_eq!(report, BulkReport::default());
    w.advance(HOUR / 2);
    let young = w.enqueue(task("a")).await;
    let report = tasks.older_than(HOUR / 4).status(Status::Queued).cancel("x").await.expect("cancel");
    assert_eq!(report, BulkReport { done: 1, ..BulkReport::default() });
    assert_eq!(w.status(&young).await, Status::Queued);
}

pub(crate) async fn each_is_called_off_as_by_its_id(w: &World) {
    let held = w.running(task("a")).await;
    let waiting = w.enqueue(task("a")).await;
    client(w).tasks(&queue(DEFAULT)).cancel("moot\nnow").await.expect("cancel");
    let record = w.record(&waiting).await;
    assert_eq!(record.last_failure().expect("the reason").message, "moot\nnow");
    assert_eq!(w.events_of(&waiting).await, [EventKind::Queued, EventKind::Cancelled]);
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::CancelRequested("moot\nnow".into())]);
    assert!(w.claim(9).await.is_empty());
}

pub(crate) async fn many_are_called_off_in_bounded_steps(w: &World) {
    let ids = w.enqueue_many(700, || task("a").priority(3)).await;
    w.enqueue_many(300, || task("b").delay(HOUR)).await;
    let report = client(w).tasks(&queue(DEFAULT)).cancel("moot").await.expect("cancel");
    assert_eq!(report, BulkReport { done: 1000, ..BulkReport::default() });
    assert_eq!(w.status(&ids[699]).await, Status::Cancelled);
    assert_eq!(w.stats().await.unfinished(), 0);
    let entries = w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 100 }).await.expect("audit");
    assert_eq!(entries.iter().map(|entry| entry.tasks).sum::<u64>(), 1000);
    for entry in &entries {
        assert!(entry.tasks <= BATCH as u64 && entry.action == AuditAction::Cancel);
        assert_eq!(entry.target, "retrying or pending or queued or running tasks");
    }
}

pub(crate) async fn a_task_that_moved_on_is_left_alone(w: &World) {
    let held = w.running(task("a")).await;
    let id = held.lease.task.clone();
    let only = |status| Steer::Cancel { statuses: vec![status] };
    for status in [Status::Queued, Status::Pending, Status::Retrying] {
        assert_eq!(w.steer_one(&id, only(status)).await, Steered::Unfit(Status::Running));
    }
    assert!(!w.record(&id).await.cancel_requested);
    assert_eq!(w.steer_one(&id, only(Status::Running)).await, Steered::Requested);
    w.succeed(&held).await;
    assert_eq!(w.steer_one(&id, only(Status::Running)).await, Steered::Unfit(Status::Succeeded));
}

checks! { cancel_many:
    everything_unfinished_is_called_off,
    only_what_matches_is,
    each_is_called_off_as_by_its_id,
    many_are_called_off_in_bounded_steps,
    a_task_that_moved_on_is_left_alone,
}
