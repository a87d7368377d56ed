//! Queues that are paused, and go on.

use std::time::{Duration, Instant};

use dtq::store::{Claim, Renewed, Verdict, Wait};
use dtq::types::{AuditAction, EventKind, Status};
use dtq_tests::{DEFAULT, LEASE, World, failure, promptly, queue, task, want};

const SECOND: Duration = Duration::from_secs(1);

/// What the audit log of the default queue tells, oldest first: what was done, why, and to how many tasks.
async fn told(w: &World) -> Vec<(AuditAction, String, u64)> {
    let query = dtq::store::AuditQuery { queue: queue(DEFAULT), before: None, limit: 100 };
    let entries = w.store().audit(query).await.expect("audit");
    entries.into_iter().rev().map(|entry| (entry.action, entry.by.reason, entry.tasks)).collect()
}

pub(crate) async fn a_paused_queue_hands_out_nothing_and_says_so(w: &World) {
    w.enqueue_many(3, || task("a")).await;
    assert!(w.pause(DEFAULT).await);
    let claimed = w.claim_with(Claim { sweep: true, ..want(10) }).await;
    assert!(claimed.paused && claimed.deliveries.is_empty());
    assert!(!claimed.more && claimed.next_due.is_none(), "nobody is to ask again at once");
    assert_eq!(w.stats().await.queued, 3);
    assert!(w.resume(DEFAULT).await);
    let claimed = w.claim_with(want(10)).await;
    assert!(!claimed.paused);
    assert_eq!(claimed.deliveries.len(), 3);
}

pub(crate) async fn enqueuing_goes_on_and_order_is_kept(w: &World) {
    w.enqueue(task("first")).await;
    w.pause(DEFAULT).await;
    w.enqueue(task("second")).await;
    w.enqueue(task("urgent").priority(9)).await;
    assert!(w.claim(10).await.is_empty());
    w.resume(DEFAULT).await;
    let names: Vec<_> = w.claim(10).await.into_iter().map(|delivery| delivery.task).collect();
    assert_eq!(names, ["urgent", "first", "second"]);
}

pub(crate) async fn what_runs_finishes(w: &World) {
    w.enqueue_many(5, || task("a")).await;
    let held = w.claim(5).await;
    w.pause(DEFAULT).await;
    assert_eq!(w.renew(&[&held[0].lease]).await, [Renewed::Held]);
    w.succeed(&held[0]).await;
    w.fail(&held[1]).await;
    w.retry(&held[2], SECOND).await;
    w.snooze(&held[3], SECOND).await;
    w.release(&held[4]).await;
    let stats = w.stats().await;
    assert_eq!((stats.pending, stats.queued, stats.running, stats.retrying), (1, 1, 0, 1));
    w.advance(SECOND * 5);
    assert!(w.claim(10).await.is_empty());
    w.resume(DEFAULT).await;
    assert_eq!(w.drain(want(10)).await.len(), 3);
}

pub(crate) async fn what_comes_due_waits_for_the_resume(w: &World) {
    let id = w.enqueue(task("a").delay(SECOND)).await;
    w.pause(DEFAULT).await;
    w.advance(SECOND * 60);
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.status(&id).await, Status::Pending);
    w.resume(DEFAULT).await;
    assert_eq!(w.claim_one().await.lease.task, id);
}

pub(crate) async fn a_lost_task_is_taken_over_after_the_resume(w: &World) {
    let lost = w.running(task("a")).await;
    w.pause(DEFAULT).await;
    w.advance(LEASE * 2);
    assert!(w.sweep(10).await.is_empty());
    assert_eq!(w.status(&lost.lease.task).await, Status::Running);
    w.resume(DEFAULT).await;
    let taken = w.sweep(10).await;
    assert_eq!((taken.len(), taken[0].lease.attempt), (1, 2));
    w.succeed(&taken[0]).await;
}

pub(crate) async fn what_was_never_heard_of_is_handed_out_even_then(w: &World) {
    w.running(task("a").max_attempts(1)).await;
    w.pause(DEFAULT).await;
    let claimed = w.claim_with(Claim { holding: Some(Vec::new()), ..want(10) }).await;
    assert!(claimed.paused);
    let [unheard] = &claimed.deliveries[..] else { panic!("{claimed:?}") };
    assert_eq!(unheard.lease.attempt, 1);
    w.succeed(unheard).await;
}

pub(crate) async fn a_resume_wakes_who_waits(w: &World) {
    let second = w.second_store().await;
    w.enqueue(task("a")).await;
    w.pause(DEFAULT).await;
    assert!(w.claim(1).await.is_empty());
    let waiting = tokio::spawn(async move {
        second.wait(Wait { queues: vec![queue(DEFAULT)], timeout: Duration::from_secs(600) }).await.expect("wait");
    });
    w.resume(DEFAULT).await;
    promptly("the waiting call ends", waiting).await.expect("the waiting task");
    w.claim_one().await;
}

pub(crate) async fn waiting_for_a_paused_queue_is_as_calm_as_for_an_empty_one(w: &World) {
    w.enqueue(task("a")).await;
    w.enqueue(task("later").delay(SECOND)).await;
    w.advance(SECOND * 5);
    w.pause(DEFAULT).await;
    assert!(w.claim(1).await.is_empty());
    w.enqueue(task("b")).await;
    let (began, timeout) = (Instant::now(), Duration::from_millis(300));
    w.store().wait(Wait { queues: vec![queue(DEFAULT)], timeout }).await.expect("wait");
    assert!(began.elapsed() >= timeout, "woken after {:?}", began.elapsed());
}

pub(crate) async fn it_is_told_who_paused_it_when_and_why(w: &World) {
    assert_eq!(w.limits().await.paused, None);
    let before = w.now();
    assert!(w.pause(DEFAULT).await);
    let pause = w.limits().await.paused.expect("it is paused");
    assert_eq!((pause.by.actor.as_str(), pause.by.reason.as_str()), ("tests", "hold on"));
    w.assert_passed(pause.since.since(before), Duration::ZERO);
    assert!(!w.pause(DEFAULT).await, "the first one stands");
    assert_eq!(w.limits().await.paused, Some(pause));
    assert!(w.resume(DEFAULT).await);
    assert!(!w.resume(DEFAULT).await);
    assert_eq!(w.limits().await.paused, None);
    let expected = [(AuditAction::Pause, "hold on".to_owned(), 0), (AuditAction::Resume, "go on".to_owned(), 0)];
    assert_eq!(told(w).await, expected);
}

pub(crate) async fn a_queue_that_is_not_there_yet_can_be_paused(w: &World) {
    assert!(w.pause("new").await);
    assert_eq!(w.store().queues().await.expect("queues"), [queue("new")]);
    let id = w.enqueue(task("a").queue("new")).await;
    let claim = Claim { queue: queue("new"), ..want(1) };
    assert!(w.claim_with(claim.clone()).await.paused);
    w.resume("new").await;
    assert_eq!(w.claim_with(claim).await.deliveries[0].lease.task, id);
}

pub(crate) async fn other_queues_go_on(w: &World) {
    w.pause("other").await;
    let held = w.running(task("a")).await;
    w.succeed(&held).await;
    assert_eq!(w.store().limits(&queue("never")).await.expect("limits"), Default::default());
}

pub(crate) async fn nothing_is_told_of_tasks_by_a_pause(w: &World) {
    let held = w.running(task("a")).await;
    let before = w.snapshot(&held.lease.task).await;
    w.pause(DEFAULT).await;
    w.claim(1).await;
    w.resume(DEFAULT).await;
    assert_eq!(w.snapshot(&held.lease.task).await, before);
    assert_eq!(w.events_of(&held.lease.task).await, [EventKind::Queued, EventKind::Started]);
    w.settle_to(&held, Verdict::Failed { failure: failure("x") }, Status::DeadLettered).await;
}

checks! { pause:
    a_paused_queue_hands_out_nothing_and_says_so,
    enqueuing_goes_on_and_order_is_kept,
    what_runs_finishes,
    what_comes_due_waits_for_the_resume,
    a_lost_task_is_taken_over_after_the_resume,
    what_was_never_heard_of_is_handed_out_even_then,
    a_resume_wakes_who_waits,
    waiting_for_a_paused_queue_is_as_calm_as_for_an_empty_one,
    it_is_told_who_paused_it_when_and_why,
    a_queue_that_is_not_there_yet_can_be_paused,
    other_queues_go_on,
    nothing_is_told_of_tasks_by_a_pause,
}
