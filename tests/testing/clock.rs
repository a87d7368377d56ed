//! What follows the clock that a test moves.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::Status;

use super::{charge, shout, with_rates};

#[dtq::test]
async fn a_delay_ends_when_the_clock_has_moved(t: &TestApp) {
    let began = t.now();
    let handle = shout::enqueue("a".into()).delay(Duration::from_secs(600)).await.unwrap();
    assert_eq!(t.enqueued::<shout>()[0].delay, Some(Duration::from_secs(600)));
    let drained = t.drain().await;
    drained.assert_nothing_ran();
    assert_eq!(drained.next_due(), Some(Duration::from_secs(600)));
    t.advance("9m 59s 999ms").await;
    t.drain().await.assert_nothing_ran();
    t.advance("1ms").await;
    t.drain().await.assert_all_succeeded();
    assert_eq!(handle.result(Duration::ZERO).await.unwrap(), "A");
    assert_eq!(t.now().since(began), Duration::from_secs(600));
}

#[dtq::test]
async fn a_retry_comes_after_its_backoff(t: &TestApp) {
    with_rates(t);
    charge::enqueue(1, 26).await.unwrap();
    t.drain().await.assert_ran::<charge>(1);
    t.advance("9s").await;
    t.drain().await.assert_nothing_ran();
    t.advance("1s").await;
    t.drain().await.assert_all_succeeded();
}

#[dtq::test]
async fn a_time_to_live_ends(t: &TestApp) {
    let handle = shout::enqueue("a".into()).ttl(Duration::from_secs(60)).await.unwrap();
    t.advance("61s").await;
    let drained = t.drain().await;
    let ran = &drained.attempts()[0];
    assert_eq!((ran.attempt, ran.status, &ran.id), (0, Status::Expired, handle.id()));
    drained.assert_ran::<shout>(0);
}

#[dtq::test]
async fn a_lost_worker_s_task_is_taken_over_when_its_lease_has_ended(t: &TestApp) {
    let handle = shout::enqueue("a".into()).await.unwrap();
    assert_eq!(t.lose_worker().await, [handle.id().clone()]);
    t.drain().await.assert_nothing_ran();
    t.advance("31s").await;
    let drained = t.drain().await;
    drained.assert_all_succeeded();
    assert_eq!(drained.attempts()[0].attempt, 2);
    let record = handle.record().await.unwrap().unwrap();
    assert_eq!(record.last_failure().unwrap().kind, dtq::types::ErrorKind::WorkerLost);
}

#[dtq::test]
async fn a_record_is_kept_for_its_retention(t: &TestApp) {
    let handle = shout::enqueue("a".into()).await.unwrap();
    t.drain().await.assert_all_succeeded();
    assert_eq!(handle.status().await.unwrap(), Some(Status::Succeeded));
    t.advance("1h 1s").await;
    t.drain().await.assert_nothing_ran();
    assert_eq!(handle.status().await.unwrap(), None);
    assert_eq!(t.enqueued::<shout>().len(), 1, "what was enqueued is not forgotten");
}

/// Its first attempt goes on until it hears that it lost its lease.
#[dtq::task(name = "testing_gate", max_attempts = 2)]
async fn gate(ctx: &Context) -> u32 {
    if ctx.attempt() == 1 {
        ctx.cancellation().cancelled().await;
    }
    ctx.attempt()
}

#[dtq::test]
async fn an_attempt_that_lost_its_lease_cannot_end_its_task(t: &TestApp) {
    let handle = gate::enqueue().await.unwrap();
    let jump = async {
        while handle.status().await.unwrap() != Some(Status::Running) {
            tokio::task::yield_now().await;
        }
        // In one jump, so that no renewal comes between.
        t.advance("1h").await;
    };
    let (drained, ()) = tokio::join!(t.drain_within(Duration::from_secs(20)), jump);
    let ends: Vec<_> = drained.of::<gate>().iter().map(|ran| (ran.attempt, ran.status)).collect();
    assert!(ends.contains(&(2, Status::Succeeded)) && ends.contains(&(1, Status::Running)), "{drained}");
}

#[dtq::task(queue = "testing_schedules", cron = "*/5 * * * *")]
async fn sweeps() {}

#[dtq::test]
async fn schedules_follow_once_they_are_started(t: &TestApp) {
    t.advance("1h").await;
    t.drain().await.assert_ran::<sweeps>(0);
    t.start_schedules().await;
    t.drain().await.assert_ran::<sweeps>(0);
    t.advance("10m").await;
    t.drain().await.assert_ran::<sweeps>(2);
    t.advance("1d").await;
    t.drain().await.assert_ran::<sweeps>(288);
}

#[dtq::test]
#[should_panic(expected = "its schedule ticks from t.start_schedules() on, when t.advance(..) passes a tick")]
async fn a_schedule_that_was_not_started_is_told_of(t: &TestApp) {
    t.advance("10m").await;
    t.drain().await.assert_ran::<sweeps>(2);
}
