//! One worker of a queue keeps watch for what becomes due; the others need not come back for it.

use std::time::Duration;

use dtq::store::{Claim, Claimed, WATCH_LATE};
use dtq_tests::{DEFAULT, World, task, want, worker};

const MINUTE: Duration = Duration::from_secs(60);

fn watching(name: &str) -> Claim {
    Claim { worker: worker(name), watch: true, silence: MINUTE, ..want(5) }
}

async fn looks(w: &World, name: &str) -> Claimed {
    w.claim_with(watching(name)).await
}

/// Who keeps watch, by the queue's hash.
fn keeper(w: &World) -> Option<String> {
    let watch: Option<String> = w.server().command(&["HGET", "dtq:{default}:queue", "watch"]);
    watch.map(|watch| watch.split([' ', '~']).nth(2).unwrap().to_owned())
}

fn tokens(w: &World) -> u32 {
    w.server().command(&["LLEN", "dtq:{default}:wake"])
}

#[tokio::test]
async fn raw_keys_one_worker_is_told_when_the_next_task_is_due_and_the_others_when_to_look_after_it() {
    let w = World::redis().await;
    assert!(!looks(&w, "a").await.watches, "there is nothing to watch");
    w.enqueue(task("late").delay(MINUTE)).await;
    for _ in 0..2 {
        let (first, other) = (looks(&w, "a").await, looks(&w, "b").await);
        assert!(first.watches && !other.watches);
        w.assert_left(first.next_due, MINUTE);
        assert_eq!((other.next_due, other.more), (None, false));
        w.assert_left(other.look_in, MINUTE + WATCH_LATE);
    }
    // Who does not offer to watch is told, and relied on by nobody.
    let plain = w.claim_with(Claim { watch: false, ..watching("c") }).await;
    w.assert_left(plain.next_due, MINUTE);
    assert_eq!((plain.watches, keeper(&w).as_deref()), (false, Some("a")));
}

#[tokio::test]
async fn raw_keys_what_is_due_goes_to_whoever_claims_whoever_watches() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    w.advance(MINUTE);
    assert_eq!(looks(&w, "b").await.deliveries.len(), 1);
}

#[tokio::test]
async fn raw_keys_what_becomes_due_earlier_is_watched_by_the_worker_that_it_wakes() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(10 * MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    assert_eq!(tokens(&w), 0);
    w.enqueue(task("soon").delay(MINUTE)).await;
    assert_eq!(tokens(&w), 1);
    let woken = looks(&w, "b").await;
    assert!(woken.watches);
    w.assert_left(woken.next_due, MINUTE);
    assert!(!looks(&w, "a").await.watches);
}

#[tokio::test]
async fn raw_keys_a_worker_without_room_wakes_another_to_watch() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    w.enqueue(task("now")).await;
    let full = w.claim_with(Claim { max: 1, ..watching("a") }).await;
    assert_eq!((full.deliveries.len(), full.watches, full.more), (1, false, false));
    assert_eq!((keeper(&w), tokens(&w)), (None, 1));
    assert!(looks(&w, "b").await.watches);
    assert_eq!(tokens(&w), 0);
    // Another that is full has nothing to hand on.
    w.enqueue(task("now")).await;
    w.claim_with(Claim { max: 1, ..watching("c") }).await;
    assert_eq!((keeper(&w).as_deref(), tokens(&w)), (Some("b"), 0));
}

#[tokio::test]
async fn raw_keys_a_queue_at_its_limit_does_not_wake_workers_in_vain() {
    let w = World::redis().await;
    w.set_limits(dtq::types::LimitChanges::new().concurrency(1)).await;
    w.enqueue(task("late").delay(MINUTE)).await;
    w.enqueue_many(3, || task("now")).await;
    let first = looks(&w, "a").await;
    assert_eq!((first.deliveries.len(), first.watches), (1, true));
    assert!(!looks(&w, "b").await.watches);
    assert_eq!(tokens(&w), 0);
}

#[tokio::test]
async fn raw_keys_a_worker_that_cannot_come_back_hands_its_watch_on() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    let look = || Claim { max: 0, ..watching("a") };
    assert!(w.claim_with(look()).await.watches, "a look at schedules changes nothing");
    w.claim_with(Claim { watch: false, ..look() }).await;
    assert_eq!((keeper(&w), tokens(&w)), (None, 1));
    assert!(looks(&w, "b").await.watches);
}

#[tokio::test]
async fn raw_keys_a_watch_ends_when_its_worker_was_away_for_too_long() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(100 * MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    assert!(!looks(&w, "b").await.watches);
    w.advance(MINUTE / 2);
    assert!(looks(&w, "b").await.watches);
}

#[tokio::test]
async fn raw_keys_nobody_watches_a_paused_queue() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(MINUTE)).await;
    assert!(looks(&w, "a").await.watches);
    w.pause(DEFAULT).await;
    let paused = looks(&w, "a").await;
    assert!(paused.paused && !paused.watches);
    assert_eq!(keeper(&w), None);
    w.resume(DEFAULT).await;
    assert!(looks(&w, "b").await.watches);
}

#[tokio::test]
async fn raw_keys_who_was_woken_to_watch_and_has_no_room_wakes_another() {
    let w = World::redis().await;
    w.enqueue(task("late").delay(MINUTE)).await;
    let look = || Claim { max: 0, ..watching("a") };
    // The wake-up is spent.
    w.server().command::<()>(&["DEL", "dtq:{default}:wake"]);
    let looked = w.claim_with(look()).await;
    assert_eq!((looked.watches, keeper(&w), tokens(&w)), (false, None, 1));
    assert!(looks(&w, "b").await.watches);
    w.claim_with(look()).await;
    assert_eq!((keeper(&w).as_deref(), tokens(&w)), (Some("b"), 0), "somebody watches");
}
