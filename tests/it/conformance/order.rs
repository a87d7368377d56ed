//! Which task comes first.

use std::time::Duration;

use dtq::types::{Delivery, TaskId};
use dtq_tests::{World, task, want};

fn ids(deliveries: &[Delivery]) -> Vec<TaskId> {
    deliveries.iter().map(|delivery| delivery.lease.task.clone()).collect()
}

pub(crate) async fn within_a_priority_the_oldest_comes_first(w: &World) {
    let mut made = Vec::new();
    for _ in 0..20 {
        made.push(w.enqueue(task("a")).await);
    }
    assert_eq!(ids(&w.claim(20).await), made);
}

pub(crate) async fn a_batch_is_handed_out_in_its_own_order(w: &World) {
    let made = w.enqueue_many(50, || task("a")).await;
    assert_eq!(ids(&w.claim(50).await), made);
}

pub(crate) async fn small_claims_go_on_where_the_last_one_ended(w: &World) {
    let made = w.enqueue_many(12, || task("a")).await;
    let mut got = Vec::new();
    for size in [1, 2, 3, 4, 2] {
        got.extend(ids(&w.claim(size).await));
    }
    assert_eq!(got, made);
}

pub(crate) async fn age_counts_and_not_the_id(w: &World) {
    // UUIDs that sort against their age.
    let mut made = Vec::new();
    for n in (1..=10_u128).rev() {
        made.push(w.enqueue(task("a").uuid(uuid::Uuid::from_u128(n))).await);
    }
    assert_eq!(ids(&w.claim(10).await), made);
}

pub(crate) async fn every_priority_comes_before_the_lower_ones(w: &World) {
    for level in [3, 9, 0, 5, 7, 1, 8, 2, 6, 4] {
        w.enqueue(task("a").priority(level)).await;
    }
    let mut levels = Vec::new();
    for _ in 0..10 {
        levels.push(w.claim_one().await.priority.level());
    }
    assert_eq!(levels, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

pub(crate) async fn one_claim_is_filled_from_the_highest_priority_down(w: &World) {
    for level in [0, 5, 9] {
        w.enqueue_many(3, || task("a").priority(level)).await;
    }
    let levels: Vec<_> = w.claim(7).await.iter().map(|delivery| delivery.priority.level()).collect();
    assert_eq!(levels, [9, 9, 9, 5, 5, 5, 0]);
}

pub(crate) async fn a_later_task_of_higher_priority_overtakes(w: &World) {
    w.enqueue_many(5, || task("low").priority(1)).await;
    w.claim(2).await;
    let high = w.enqueue(task("high").priority(2)).await;
    assert_eq!(w.claim_one().await.lease.task, high);
}

pub(crate) async fn a_delayed_task_keeps_its_priority(w: &World) {
    w.enqueue(task("low").priority(4)).await;
    let high = w.enqueue(task("high").priority(6).delay(Duration::from_secs(5))).await;
    w.advance(Duration::from_secs(6));
    let first = w.claim_one().await;
    assert_eq!((first.lease.task, first.priority.level()), (high, 6));
}

pub(crate) async fn a_retried_task_keeps_its_priority(w: &World) {
    let delivery = w.running(task("high").priority(6)).await;
    w.enqueue(task("low").priority(4)).await;
    w.retry(&delivery, Duration::from_secs(5)).await;
    w.advance(Duration::from_secs(6));
    let first = w.claim_one().await;
    assert_eq!((first.lease.task, first.priority.level()), (delivery.lease.task, 6));
}

pub(crate) async fn a_released_task_keeps_its_priority(w: &World) {
    let delivery = w.running(task("high").priority(6)).await;
    w.enqueue(task("low").priority(4)).await;
    w.release(&delivery).await;
    let first = w.claim_one().await;
    assert_eq!((first.lease.task, first.priority.level()), (delivery.lease.task, 6));
}

pub(crate) async fn tasks_that_come_due_together_come_in_the_order_of_their_age(w: &World) {
    let mut made = Vec::new();
    for seconds in 1..=10 {
        made.push(w.enqueue(task("a").delay(Duration::from_secs(seconds))).await);
    }
    w.advance(Duration::from_secs(11));
    assert_eq!(ids(&w.claim(10).await), made);
}

pub(crate) async fn queues_do_not_mix(w: &World) {
    let a = w.enqueue(task("a").queue("a").priority(0)).await;
    let b = w.enqueue(task("b").queue("b").priority(9)).await;
    assert_eq!(w.claim(10).await.len(), 0);
    assert_eq!(w.claim_one_of("a").await.lease.task, a);
    assert_eq!(w.claim_one_of("b").await.lease.task, b);
}

pub(crate) async fn a_queue_whose_name_begins_like_another_is_another(w: &World) {
    w.enqueue(task("a").queue("jobs.eu")).await;
    let claim = dtq::store::Claim { queue: dtq_tests::queue("jobs"), ..want(10) };
    assert!(w.claim_with(claim).await.deliveries.is_empty());
    assert_eq!(w.stats_of("jobs").await.queued, 0);
}

checks! {
    order:
    within_a_priority_the_oldest_comes_first,
    a_batch_is_handed_out_in_its_own_order,
    small_claims_go_on_where_the_last_one_ended,
    age_counts_and_not_the_id,
    every_priority_comes_before_the_lower_ones,
    one_claim_is_filled_from_the_highest_priority_down,
    a_later_task_of_higher_priority_overtakes,
    a_delayed_task_keeps_its_priority,
    a_retried_task_keeps_its_priority,
    a_released_task_keeps_its_priority,
    tasks_that_come_due_together_come_in_the_order_of_their_age,
    queues_do_not_mix,
    a_queue_whose_name_begins_like_another_is_another,
}
