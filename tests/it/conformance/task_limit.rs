//! How many tasks of one name run at once, on all workers together.

use std::time::Duration;

use dtq::store::{BATCH, Claim, Settled, Verdict};
use dtq::types::{Delivery, EventKind, Limit, LimitChanges, Status, TaskLimit};
use dtq_tests::{LEASE, World, task, want, worker};

const SECOND: Duration = Duration::from_secs(1);

fn at_most(most: u32) -> LimitChanges {
    LimitChanges::new().task("a", most)
}

fn names(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.task.as_str()).collect()
}

/// What is known of task `a`: how many run, and how many were passed over.
async fn counts(w: &World) -> (u64, u64) {
    let limits = w.limits().await;
    let [a] = &limits.tasks[..] else { panic!("{limits:?}") };
    assert_eq!(a.task, "a");
    (a.running, a.held_back)
}

pub(crate) async fn tasks_beyond_it_do_not_hold_up_others(w: &World) {
    w.set_limits(at_most(2)).await;
    w.enqueue_many(5, || task("a")).await;
    w.enqueue_many(3, || task("b")).await;
    let held = w.drain(want(4)).await;
    assert_eq!(names(&held), ["a", "a", "b", "b", "b"]);
    assert_eq!(counts(w).await, (2, 3));
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.running), (3, 5));
    let none = w.claim_with(want(10)).await;
    assert!(none.deliveries.is_empty() && !none.more, "nobody is to ask again at once");
}

pub(crate) async fn order_and_priority_are_kept(w: &World) {
    w.set_limits(at_most(1)).await;
    let first = w.enqueue(task("a")).await;
    let second = w.enqueue(task("a")).await;
    let third = w.enqueue(task("a")).await;
    let held = w.claim(10).await;
    assert_eq!((held.len(), &held[0].lease.task), (1, &first));
    let urgent = w.enqueue(task("a").priority(9)).await;
    assert!(w.claim(10).await.is_empty());
    let mut holder = held.into_iter().next().expect("one");
    for expected in [&urgent, &second, &third] {
        w.succeed(&holder).await;
        // What came later, and was never looked at, does not overtake.
        let later = w.enqueue(task("a")).await;
        let other = w.enqueue(task("b")).await;
        let held = w.claim(10).await;
        assert_eq!(names(&held), ["a", "b"]);
        assert_eq!((&held[0].lease.task, &held[1].lease.task), (expected, &other));
        w.succeed(&held[1]).await;
        w.cancel(&later).await;
        holder = held.into_iter().next().expect("one");
    }
}

pub(crate) async fn a_task_that_was_passed_over_is_like_any_other_queued_one(w: &World) {
    w.set_limits(at_most(1)).await;
    let held = w.running(task("a")).await;
    let waiting = w.enqueue(task("a").payload("{\"x\":1}")).await;
    let before = w.record(&waiting).await;
    assert!(w.claim(10).await.is_empty());
    assert_eq!(w.record(&waiting).await, before);
    assert_eq!(w.events_of(&waiting).await, [EventKind::Queued]);
    w.succeed(&held).await;
    let next = w.claim_one().await;
    assert_eq!((&next.lease.task, next.lease.attempt, next.reclaimed), (&waiting, 1, false));
    assert_eq!((&next.payload, next.enqueued_at), (&before.payload, before.enqueued_at));
    w.succeed(&next).await;
    assert_eq!(w.events_of(&waiting).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    assert_eq!(counts(w).await, (0, 0));
}

pub(crate) async fn every_end_of_an_attempt_frees_its_slot(w: &World) {
    w.set_limits(at_most(1)).await;
    for retention in [Duration::ZERO, Duration::from_secs(3600)] {
        w.enqueue_many(9, || task("a").retention(retention)).await;
        for n in 0..9 {
            let held = w.claim(10).await;
            assert_eq!(held.len(), 1, "round {n}");
            assert!(w.claim(10).await.is_empty(), "round {n}");
            let one = &held[0];
            match n {
                0 => w.settle_to(one, Verdict::Succeeded { result: None }, Status::Succeeded).await,
                1 => w.succeed(one).await,
                2 => w.fail(one).await,
                3 => w.drop_task(one).await,
                4 => w.retry(one, SECOND * 60).await,
                5 => w.snooze(one, SECOND * 60).await,
                6 => w.release(one).await,
                7 => {
                    w.cancel(&one.lease.task).await;
                    w.renew(&[&one.lease]).await;
                    assert_eq!(w.settle(one, Verdict::Release).await, Settled::Applied(Status::Cancelled));
                }
                _ => w.succeed(one).await,
            }
        }
        // Four are left: one that was released, one that is retrying, one that snoozes... and they come one by one.
        w.advance(SECOND * 120);
        let mut left = 0;
        while let Some(one) = w.claim(10).await.pop() {
            w.succeed(&one).await;
            left += 1;
        }
        assert_eq!((left, counts(w).await), (3, (0, 0)));
    }
}

pub(crate) async fn an_end_that_is_told_twice_or_too_late_frees_nothing_more(w: &World) {
    w.set_limits(at_most(1)).await;
    let first = w.running(task("a")).await;
    w.enqueue_many(3, || task("a")).await;
    w.succeed(&first).await;
    let second = w.claim(10).await.remove(0);
    w.settle(&first, Verdict::Succeeded { result: Some("\"done\"".into()) }).await;
    assert_eq!(w.settle(&first, Verdict::Release).await, Settled::Stale);
    assert!(w.claim(10).await.is_empty());
    // Taken over: the end that its old owner tells frees nothing.
    w.advance(LEASE * 2);
    let taken = w.sweep(10).await;
    assert_eq!((taken.len(), taken[0].lease.attempt), (1, 2));
    assert_eq!(w.settle(&second, Verdict::Succeeded { result: None }).await, Settled::Stale);
    assert!(w.claim(10).await.is_empty());
    assert_eq!(counts(w).await.0, 1);
    w.succeed(&taken[0]).await;
    assert_eq!(w.claim(10).await.len(), 1);
}

pub(crate) async fn a_dead_workers_slot_is_freed_when_its_task_ends_for_good(w: &World) {
    w.set_limits(at_most(1)).await;
    let lost = w.running(task("a").max_attempts(2)).await;
    let next = w.enqueue(task("a")).await;
    assert!(w.claim(10).await.is_empty());
    w.advance(LEASE * 2);
    let taken = w.sweep(10).await;
    assert_eq!((taken.len(), &taken[0].lease.task), (1, &lost.lease.task), "it keeps its slot");
    w.advance(LEASE * 2);
    let after = w.claim_with(Claim { worker: worker("w3"), sweep: true, ..want(10) }).await.deliveries;
    assert_eq!((after.len(), &after[0].lease.task), (1, &next), "in the step that ended the other one");
    assert_eq!(w.status(&lost.lease.task).await, Status::DeadLettered);
    // One that was asked to stop ends by the same way.
    w.enqueue(task("a")).await;
    w.cancel(&after[0].lease.task).await;
    w.advance(LEASE * 2);
    assert_eq!(w.sweep(10).await.len(), 1);
    assert_eq!(w.status(&after[0].lease.task).await, Status::Cancelled);
}

pub(crate) async fn what_was_never_heard_of_has_its_slot(w: &World) {
    w.set_limits(at_most(1)).await;
    w.enqueue_many(2, || task("a")).await;
    w.claim(1).await;
    let again = w.claim_with(Claim { holding: Some(Vec::new()), ..want(10) }).await.deliveries;
    assert_eq!((again.len(), counts(w).await.0), (1, 1));
    w.succeed(&again[0]).await;
    assert_eq!(w.claim(10).await.len(), 1);
}

pub(crate) async fn what_was_passed_over_can_be_cancelled(w: &World) {
    w.set_limits(at_most(1)).await;
    let held = w.running(task("a")).await;
    let (second, third) = (w.enqueue(task("a")).await, w.enqueue(task("a")).await);
    assert!(w.claim(10).await.is_empty());
    w.cancel(&second).await;
    assert_eq!((w.status(&second).await, counts(w).await), (Status::Cancelled, (1, 1)));
    w.succeed(&held).await;
    assert_eq!(w.claim_one().await.lease.task, third);
}

pub(crate) async fn what_was_passed_over_expires(w: &World) {
    w.set_limits(at_most(1)).await;
    let held = w.running(task("a")).await;
    let late = w.enqueue(task("a").ttl(SECOND * 10)).await;
    let lasting = w.enqueue(task("a")).await;
    assert!(w.claim(10).await.is_empty());
    w.advance(SECOND * 11);
    w.succeed(&held).await;
    assert_eq!(w.claim_one().await.lease.task, lasting);
    assert_eq!((w.status(&late).await, w.stats().await.expired), (Status::Expired, 1));
}

pub(crate) async fn a_higher_limit_or_none_lets_them_start(w: &World) {
    w.set_limits(at_most(1)).await;
    let ids = w.enqueue_many(6, || task("a")).await;
    let mut held = w.claim(10).await;
    w.set_limits(at_most(3)).await;
    held.extend(w.claim(10).await);
    assert_eq!(held.len(), 3);
    w.set_limits(LimitChanges::new().no_task("a")).await;
    w.enqueue(task("b")).await;
    held.extend(w.claim(10).await);
    assert_eq!(names(&held), ["a", "a", "a", "a", "a", "a", "b"]);
    assert!(held.iter().map(|delivery| &delivery.lease.task).zip(&ids).all(|(one, other)| one == other));
    for delivery in &held {
        w.succeed(delivery).await;
    }
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn a_lower_limit_lets_what_runs_finish(w: &World) {
    w.set_limits(at_most(4)).await;
    w.enqueue_many(8, || task("a")).await;
    let held = w.claim(10).await;
    w.set_limits(at_most(2)).await;
    for delivery in &held[..2] {
        w.succeed(delivery).await;
        assert!(w.claim(10).await.is_empty());
    }
    w.succeed(&held[2]).await;
    assert_eq!(w.claim(10).await.len(), 1);
    w.set_limits(at_most(0)).await;
    w.succeed(&held[3]).await;
    assert!(w.claim(10).await.is_empty(), "none at all");
}

pub(crate) async fn what_runs_when_it_is_set_counts(w: &World) {
    // More than one step looks at.
    let many = 2 * BATCH + 10;
    w.enqueue_many(many, || task("a")).await;
    w.enqueue_many(3, || task("b").priority(9)).await;
    let mut held = w.drain(want(BATCH)).await;
    assert_eq!(held.len(), many + 3);
    w.set_limits(at_most(u32::try_from(many).unwrap())).await;
    w.enqueue_many(5, || task("a")).await;
    assert!(w.drain(want(10)).await.is_empty());
    assert_eq!(counts(w).await.0, many as u64);
    let ended = held.iter().position(|delivery| delivery.task == "a").expect("one of them");
    w.succeed(&held.remove(ended)).await;
    assert_eq!(w.drain(want(10)).await.len(), 1);
    assert_eq!(counts(w).await, (many as u64, 4));
}

pub(crate) async fn what_is_set_by_hand_goes_before_what_workers_declare(w: &World) {
    w.declare_limit("a", Some(1)).await;
    w.enqueue_many(6, || task("a")).await;
    let mut held = w.claim(10).await;
    assert_eq!(held.len(), 1);
    w.set_limits(at_most(3)).await;
    held.extend(w.claim(10).await);
    w.declare_limit("a", Some(5)).await;
    assert!(w.claim(10).await.is_empty());
    let limits = w.limits().await.tasks;
    let expected =
        TaskLimit { task: "a".into(), declared: Some(5), set: Some(Limit::AtMost(3)), running: 3, held_back: 3 };
    assert_eq!(limits, [expected]);
    w.set_limits(LimitChanges::new().task_as_declared("a")).await;
    held.extend(w.claim(10).await);
    assert_eq!(held.len(), 5);
    w.declare_limit("a", None).await;
    held.extend(w.claim(10).await);
    assert_eq!((held.len(), w.limits().await.tasks), (6, vec![]));
}

pub(crate) async fn names_are_counted_apart_and_the_queue_over_all(w: &World) {
    w.set_limits(at_most(2).task("b", 2).concurrency(3)).await;
    w.enqueue_many(4, || task("a")).await;
    w.enqueue_many(4, || task("b")).await;
    w.enqueue_many(4, || task("c")).await;
    let held = w.drain(want(10)).await;
    assert_eq!(names(&held), ["a", "a", "b"]);
    w.succeed(&held[0]).await;
    assert_eq!(names(&w.drain(want(10)).await), ["a"]);
    w.set_limits(LimitChanges::new().no_concurrency()).await;
    assert_eq!(names(&w.drain(want(10)).await), ["b", "c", "c", "c", "c"]);
}

pub(crate) async fn a_long_row_of_them_is_passed_over_in_bounded_steps(w: &World) {
    w.set_limits(at_most(1)).await;
    w.enqueue_many(500, || task("a")).await;
    let last = w.enqueue(task("b")).await;
    let mut claims = 0;
    let other = loop {
        claims += 1;
        let claimed = w.claim_with(want(1)).await;
        assert!(claimed.more || !claimed.deliveries.is_empty());
        if let Some(other) = claimed.deliveries.into_iter().find(|delivery| delivery.task == "b") {
            break other;
        }
    };
    assert_eq!(other.lease.task, last);
    assert!((4..=8).contains(&claims), "{claims} claims");
    assert_eq!(counts(w).await, (1, 499));
}

pub(crate) async fn a_retry_takes_a_slot_anew(w: &World) {
    w.set_limits(at_most(1)).await;
    let first = w.running(task("a")).await;
    w.retry(&first, SECOND).await;
    let second = w.running(task("a")).await;
    w.advance(SECOND * 2);
    assert!(w.claim(10).await.is_empty());
    assert_eq!(w.status(&first.lease.task).await, Status::Queued);
    w.succeed(&second).await;
    let again = w.claim_one().await;
    assert_eq!((again.lease.task, again.lease.attempt), (first.lease.task, 2));
}

checks! { task_limit:
    tasks_beyond_it_do_not_hold_up_others,
    order_and_priority_are_kept,
    a_task_that_was_passed_over_is_like_any_other_queued_one,
    every_end_of_an_attempt_frees_its_slot,
    an_end_that_is_told_twice_or_too_late_frees_nothing_more,
    a_dead_workers_slot_is_freed_when_its_task_ends_for_good,
    what_was_never_heard_of_has_its_slot,
    what_was_passed_over_can_be_cancelled,
    what_was_passed_over_expires,
    a_higher_limit_or_none_lets_them_start,
    a_lower_limit_lets_what_runs_finish,
    what_runs_when_it_is_set_counts,
    what_is_set_by_hand_goes_before_what_workers_declare,
    names_are_counted_apart_and_the_queue_over_all,
    a_long_row_of_them_is_passed_over_in_bounded_steps,
    a_retry_takes_a_slot_anew,
}
