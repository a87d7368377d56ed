//! Counts.

use std::time::Duration;

use dtq::types::{QueueStats, Status};
use dtq_tests::{RETENTION, World, task};

pub(crate) async fn a_queue_that_never_was_counts_nothing(w: &World) {
    assert_eq!(w.stats_of("never").await, QueueStats::default());
}

pub(crate) async fn every_status_is_counted(w: &World) {
    for status in Status::ALL {
        let id = w.bring_to(status).await.id;
        let stats = w.stats_of(id.queue().as_str()).await;
        for other in Status::ALL {
            assert_eq!(stats.of(other), u64::from(other == status), "{status}: {stats:?}");
        }
        assert_eq!(stats.unfinished(), u64::from(!status.is_terminal()));
    }
}

pub(crate) async fn counts_add_up_over_many_tasks(w: &World) {
    w.enqueue_many(20, || task("a")).await;
    w.enqueue_many(4, || task("later").delay(Duration::from_secs(60))).await;
    let deliveries = w.claim(12).await;
    for (n, delivery) in deliveries.iter().enumerate() {
        match n {
            0..5 => w.succeed(delivery).await,
            5..8 => w.fail(delivery).await,
            8..10 => w.retry(delivery, Duration::from_secs(60)).await,
            _ => {}
        }
    }
    let expected = QueueStats {
        pending: 4,
        queued: 8,
        running: 2,
        retrying: 2,
        succeeded: 5,
        dead_lettered: 3,
        retries: 2,
        ..QueueStats::default()
    };
    assert_eq!(w.stats().await, expected);
}

pub(crate) async fn totals_outlive_the_records(w: &World) {
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        w.bring(status, task("a")).await;
    }
    let before = w.stats().await;
    w.advance(RETENTION * 24 * 40);
    assert!(w.sweep(10).await.is_empty());
    assert_eq!(w.stats().await, before);
    assert_eq!((before.succeeded, before.failed, before.dead_lettered), (1, 1, 1));
    assert_eq!((before.cancelled, before.expired), (1, 1));
}

pub(crate) async fn queues_are_counted_apart(w: &World) {
    w.enqueue(task("a").queue("a")).await;
    let delivery = w.running(task("b").queue("b")).await;
    w.succeed(&delivery).await;
    assert_eq!((w.stats_of("a").await.queued, w.stats_of("a").await.succeeded), (1, 0));
    assert_eq!((w.stats_of("b").await.queued, w.stats_of("b").await.succeeded), (0, 1));
}

pub(crate) async fn every_scheduled_retry_counts(w: &World) {
    let mut delivery = w.running(task("a")).await;
    for _ in 0..3 {
        w.retry(&delivery, Duration::ZERO).await;
        delivery = w.claim_one().await;
    }
    w.fail(&delivery).await;
    assert_eq!(w.stats().await.retries, 3);
}

pub(crate) async fn a_snooze_is_not_counted_as_a_retry(w: &World) {
    let delivery = w.running(task("a")).await;
    w.snooze(&delivery, Duration::ZERO).await;
    assert_eq!(w.stats().await.retries, 0);
}

pub(crate) async fn both_handles_count_alike(w: &World) {
    let second = w.second_store().await;
    w.enqueue_many(5, || task("a")).await;
    let deliveries = w.claim(3).await;
    w.succeed(&deliveries[0]).await;
    assert_eq!(second.stats(&dtq_tests::queue("default")).await.unwrap(), w.stats().await);
}

checks! {
    stats:
    a_queue_that_never_was_counts_nothing,
    every_status_is_counted,
    counts_add_up_over_many_tasks,
    totals_outlive_the_records,
    queues_are_counted_apart,
    every_scheduled_retry_counts,
    a_snooze_is_not_counted_as_a_retry,
    both_handles_count_alike,
}
