//! Accepting tasks.

use std::time::Duration;

use dtq::types::{EventKind, Policy, Priority, Status};
use dtq_tests::{World, task};

pub(crate) async fn a_new_task_is_queued_with_all_it_was_given(w: &World) {
    let id = w.enqueue(task("billing::charge").priority(7).payload("{\"order\":17}")).await;
    let record = w.record(&id).await;
    assert_eq!((record.id, record.task.as_str(), record.status), (id, "billing::charge", Status::Queued));
    assert_eq!((record.attempt, record.priority), (1, Priority::new(7).unwrap()));
    assert_eq!((record.policy, record.payload.as_ref()), (Policy::DEFAULT, &b"{\"order\":17}"[..]));
    assert_eq!((record.result, record.due_at, record.finished_at), (None, None, None));
    assert_eq!((record.attempts, record.cancel_requested), (vec![], false));
}

pub(crate) async fn accepting_a_task_is_told_as_one_queued_event(w: &World) {
    let id = w.enqueue(task("a")).await;
    let events = w.full_events_of(&id).await;
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].kind, events[0].attempt), (EventKind::Queued, 1));
    w.assert_same_step(events[0].at, w.record(&id).await.enqueued_at);
}

pub(crate) async fn every_policy_survives(w: &World) {
    let policies = [
        Policy { max_attempts: 1, ..Policy::DEFAULT },
        Policy { max_attempts: u32::MAX, ..Policy::DEFAULT },
        Policy { timeout: Some(Duration::from_millis(1)), ..Policy::DEFAULT },
        Policy { ttl: Some(Duration::from_secs(86_400 * 365)), ..Policy::DEFAULT },
        Policy { retention: Duration::ZERO, ..Policy::DEFAULT },
        Policy { retention: Duration::from_secs(86_400 * 365 * 10), ..Policy::DEFAULT },
        Policy { dead_letter: false, ..Policy::DEFAULT },
    ];
    for policy in policies {
        let mut new = task("a").build();
        new.policy = policy.clone();
        let id = new.id.clone();
        w.enqueue_all(vec![new]).await;
        assert_eq!(w.record(&id).await.policy, policy);
        assert_eq!(w.claim_one().await.policy, policy);
    }
}

pub(crate) async fn a_known_id_changes_nothing(w: &World) {
    let id = w.enqueue(task("first").payload("1").priority(3)).await;
    let before = w.snapshot(&id).await;
    let again = w.enqueue_again(task("second").id(&id).payload("2").priority(9)).await;
    assert_eq!((again.id, again.created), (id.clone(), false));
    assert_eq!(w.snapshot(&id).await, before);
    assert_eq!(w.events_of(&id).await, [EventKind::Queued]);
    assert_eq!(w.drain(dtq_tests::want(10)).await.len(), 1);
}

pub(crate) async fn an_id_is_known_whatever_its_status(w: &World) {
    for status in Status::ALL {
        let brought = w.bring_to(status).await;
        let before = w.snapshot(&brought.id).await;
        let events = w.events_of(&brought.id).await;
        let again = w.enqueue_again(task("again").id(&brought.id)).await;
        assert!(!again.created, "{status}");
        assert_eq!(w.snapshot(&brought.id).await, before, "{status}");
        assert_eq!(w.events_of(&brought.id).await, events, "{status}");
    }
}

pub(crate) async fn a_deferred_copy_of_a_known_id_does_not_defer_it(w: &World) {
    let id = w.enqueue(task("a")).await;
    let again = w.enqueue_again(task("a").id(&id).delay(Duration::from_secs(60))).await;
    assert!(!again.created);
    assert_eq!(w.claim_one().await.lease.task, id);
    w.advance(Duration::from_secs(61));
    assert!(w.claim(10).await.is_empty());
}

pub(crate) async fn twins_within_one_batch_make_one_task(w: &World) {
    let first = task("a").payload("1");
    let twin = first.clone().payload("2");
    let other = task("b");
    let accepted = w.enqueue_all(vec![first.build(), twin.build(), other.build()]).await;
    assert_eq!(accepted.iter().map(|accepted| accepted.created).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(w.record(&accepted[0].id).await.payload.as_ref(), b"1");
    assert_eq!(w.stats().await.queued, 2);
    assert_eq!(w.claim(10).await.len(), 2);
}

pub(crate) async fn answers_stand_in_the_order_of_the_tasks_across_queues(w: &World) {
    let known = w.enqueue(task("known").queue("b")).await;
    let mut tasks: Vec<_> = (0..30).map(|n| task("a").queue(["a", "b", "c"][n % 3]).build()).collect();
    tasks.insert(17, task("known").id(&known).build());
    let ids: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
    let accepted = w.enqueue_all(tasks).await;
    assert_eq!(accepted.iter().map(|accepted| accepted.id.clone()).collect::<Vec<_>>(), ids);
    let refused: Vec<_> = (0..accepted.len()).filter(|&n| !accepted[n].created).collect();
    assert_eq!(refused, [17]);
}

pub(crate) async fn no_tasks_get_no_answers(w: &World) {
    assert_eq!(w.enqueue_all(vec![]).await, []);
}

pub(crate) async fn one_uuid_in_two_queues_makes_two_tasks(w: &World) {
    let uuid = uuid::Uuid::new_v4();
    let a = w.enqueue(task("a").queue("a").uuid(uuid)).await;
    let b = w.enqueue(task("b").queue("b").uuid(uuid)).await;
    assert_eq!(w.record(&a).await.task, "a");
    assert_eq!(w.record(&b).await.task, "b");
}

pub(crate) async fn an_id_can_be_used_again_once_its_retention_is_over(w: &World) {
    let delivery = w.running(task("a").retention(Duration::from_secs(60))).await;
    w.succeed(&delivery).await;
    assert!(!w.enqueue_again(task("a").id(&delivery.lease.task)).await.created);
    w.advance(Duration::from_secs(61));
    assert!(w.enqueue_again(task("a").id(&delivery.lease.task)).await.created);
    assert_eq!(w.claim_one().await.lease.task, delivery.lease.task);
}

pub(crate) async fn an_id_without_retention_can_be_used_again_at_once(w: &World) {
    let delivery = w.running(task("a").retention(Duration::ZERO)).await;
    w.succeed(&delivery).await;
    w.enqueue(task("a").id(&delivery.lease.task)).await;
    let second = w.claim_one().await;
    assert_eq!((second.lease.task, second.lease.attempt), (delivery.lease.task, 1));
}

pub(crate) async fn acceptance_is_dated_by_the_stores_clock(w: &World) {
    let first = w.enqueue(task("a")).await;
    w.advance(Duration::from_secs(86_400));
    let second = w.enqueue(task("a")).await;
    let passed = w.record(&second).await.enqueued_at.since(w.record(&first).await.enqueued_at);
    w.assert_passed(passed, Duration::from_secs(86_400));
}

checks! {
    enqueue:
    a_new_task_is_queued_with_all_it_was_given,
    accepting_a_task_is_told_as_one_queued_event,
    every_policy_survives,
    a_known_id_changes_nothing,
    an_id_is_known_whatever_its_status,
    a_deferred_copy_of_a_known_id_does_not_defer_it,
    twins_within_one_batch_make_one_task,
    answers_stand_in_the_order_of_the_tasks_across_queues,
    no_tasks_get_no_answers,
    one_uuid_in_two_queues_makes_two_tasks,
    an_id_can_be_used_again_once_its_retention_is_over,
    an_id_without_retention_can_be_used_again_at_once,
    acceptance_is_dated_by_the_stores_clock,
}
