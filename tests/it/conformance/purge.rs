//! Dropping what waits in a queue.

use std::time::Duration;

use dtq::store::{AuditQuery, Renewed};
use dtq::types::{AuditAction, By, ErrorKind, EventKind, LimitChanges, QueueStats, Status, TaskId, Timestamp, Uuid};
use dtq_tests::{DEFAULT, RETENTION, World, queue, task, want};

const MINUTE: Duration = Duration::from_secs(60);

/// A task that runs, one that waits for its retry, one that is delayed and one that is ready; of this name.
async fn some_of_each(w: &World, name: &str) -> [TaskId; 4] {
    // First in its queue, whatever waits there.
    let retrying = w.running(task(name).priority(9)).await;
    w.retry(&retrying, MINUTE).await;
    let running = w.running(task(name).priority(9)).await;
    let delayed = w.enqueue(task(name).delay(MINUTE)).await;
    let ready = w.enqueue(task(name)).await;
    [ready, delayed, retrying.lease.task, running.lease.task]
}

pub(crate) async fn what_waits_is_cancelled_and_what_runs_goes_on(w: &World) {
    let ids = some_of_each(w, "a").await;
    assert_eq!(w.purge(|_| {}).await, (1, 3, 0));
    for id in &ids[..3] {
        let record = w.record(id).await;
        assert_eq!(record.status, Status::Cancelled);
        let last = record.last_failure().expect("the reason is kept");
        assert_eq!((last.kind, last.message.as_str()), (ErrorKind::Cancelled, "not needed"));
        assert_eq!(w.events_of(id).await.last(), Some(&EventKind::Cancelled));
    }
    assert_eq!(w.status(&ids[3]).await, Status::Running);
    let stats = w.stats().await;
    assert_eq!(stats, QueueStats { running: 1, cancelled: 3, retries: 1, ..QueueStats::default() });
    w.advance(MINUTE * 2);
    assert!(w.claim(10).await.is_empty());
    w.advance(RETENTION * 2);
    assert!(w.get(&ids[0]).await.is_none());
}

pub(crate) async fn what_runs_is_asked_to_stop_when_that_is_wanted(w: &World) {
    let held = w.running(task("a")).await;
    let asked = w.running(task("a")).await;
    w.cancel(&asked.lease.task).await;
    assert_eq!(w.purge(|purge| purge.stop_running = true).await, (1, 0, 1), "the first reason stands");
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::CancelRequested("not needed".into())]);
    assert_eq!(w.renew(&[&asked.lease]).await, [Renewed::CancelRequested("called off".into())]);
    w.succeed(&held).await;
}

pub(crate) async fn only_tasks_of_one_name_are_dropped(w: &World) {
    let (dropped, kept) = (some_of_each(w, "a").await, some_of_each(w, "b").await);
    assert_eq!(w.purge(|purge| purge.task = Some("a".into())).await, (1, 3, 0));
    for (id, expected) in dropped.iter().chain(&kept).zip([
        Status::Cancelled,
        Status::Cancelled,
        Status::Cancelled,
        Status::Running,
        Status::Queued,
        Status::Pending,
        Status::Retrying,
        Status::Running,
    ]) {
        assert_eq!(w.status(id).await, expected, "{id}");
    }
}

pub(crate) async fn a_dry_run_counts_and_changes_nothing(w: &World) {
    let ids = some_of_each(w, "a").await;
    let before = w.stats().await;
    let dry = |purge: &mut dtq::store::Purge| (purge.dry_run, purge.stop_running) = (true, true);
    assert_eq!(w.purge(dry).await, (1, 3, 1));
    assert_eq!(w.stats().await, before);
    assert_eq!(w.status(&ids[0]).await, Status::Queued);
    assert!(w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 9 }).await.unwrap().is_empty());
}

pub(crate) async fn many_go_in_bounded_steps_with_one_entry_of_the_audit_log(w: &World) {
    // Due at one instant: no place between them is told by their time alone.
    let at = Timestamp::from_millis(w.now().as_millis() + 3_600_000);
    w.enqueue_many(500, || task("a").at(at)).await;
    w.enqueue_many(300, || task("keep").at(at)).await;
    w.enqueue_many(300, || task("a")).await;
    w.enqueue_many(200, || task("keep").priority(9)).await;
    for dry_run in [true, false] {
        let (steps, dropped, _) = w
            .purge(|purge| {
                purge.dry_run = dry_run;
                purge.task = Some("a".into());
            })
            .await;
        assert_eq!(dropped, 800);
        assert!((11..=16).contains(&steps), "{steps} steps for 1300 tasks");
    }
    let entries = w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 9 }).await.unwrap();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((entry.action, entry.target.as_str(), entry.tasks), (AuditAction::Purge, "default task=a", 800));
    assert_eq!(w.stats().await.unfinished(), 500);
    assert_eq!(w.purge(|_| {}).await.1, 500);
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn a_step_that_is_sent_twice_drops_more_and_counts_right(w: &World) {
    w.enqueue_many(400, || task("a")).await;
    let purge = dtq::store::Purge {
        queue: queue(DEFAULT),
        task: None,
        stop_running: false,
        dry_run: false,
        by: By::new("tests", "x"),
        run: Uuid::now_v7(),
        after: None,
    };
    let mut dropped = 0;
    for _ in 0..3 {
        dropped += w.store().purge(purge.clone()).await.unwrap().dropped;
    }
    assert_eq!(dropped, 384);
    let entries = w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 9 }).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.tasks).collect::<Vec<_>>(), [384]);
}

pub(crate) async fn what_was_passed_over_is_dropped_too(w: &World) {
    w.set_limits(LimitChanges::new().task("a", 1)).await;
    w.enqueue_many(5, || task("a")).await;
    let held = w.claim(10).await;
    assert_eq!((held.len(), w.limits().await.tasks[0].held_back), (1, 4));
    assert_eq!(w.purge(|_| {}).await.1, 4);
    assert_eq!(w.limits().await.tasks[0].held_back, 0);
    w.succeed(&held[0]).await;
    assert!(w.claim(10).await.is_empty());
    let next = w.running(task("a")).await;
    w.succeed(&next).await;
}

pub(crate) async fn a_paused_queue_can_be_purged(w: &World) {
    w.enqueue_many(3, || task("a")).await;
    w.pause(DEFAULT).await;
    assert_eq!(w.purge(|_| {}).await.1, 3);
    w.resume(DEFAULT).await;
    assert!(w.claim(3).await.is_empty());
}

pub(crate) async fn nothing_kept_leaves_nothing(w: &World) {
    let id = w.enqueue(task("a").retention(Duration::ZERO)).await;
    assert_eq!(w.purge(|_| {}).await.1, 1);
    assert!(w.get(&id).await.is_none());
    assert_eq!(w.store().purge(dtq::store::Purge {
        queue: queue("never"),
        task: None,
        stop_running: true,
        dry_run: false,
        by: By::new("tests", "x"),
        run: Uuid::now_v7(),
        after: None,
    }).await.unwrap(), dtq::store::Purged::default());
    assert!(w.drain(want(5)).await.is_empty());
}

checks! { purge:
    what_waits_is_cancelled_and_what_runs_goes_on,
    what_runs_is_asked_to_stop_when_that_is_wanted,
    only_tasks_of_one_name_are_dropped,
    a_dry_run_counts_and_changes_nothing,
    many_go_in_bounded_steps_with_one_entry_of_the_audit_log,
    a_step_that_is_sent_twice_drops_more_and_counts_right,
    what_was_passed_over_is_dropped_too,
    a_paused_queue_can_be_purged,
    nothing_kept_leaves_nothing,
}
