//! Pauses, depth limits and purges meet the other features: keys, schedules, and what is done by hand.

use std::time::Duration;

use dtq::store::{Accepted, Fire, Fired, Full, Refusal, ScheduleAction, StopQuery, TICK_HELD, Verdict};
use dtq::types::{By, EventKind, LimitChanges, OnConflict, Status, Unique};
use dtq_tests::{DEFAULT, NIGHTLY, TaskBuilder, World, every, firing, queue, task, want};

use super::passed_over::{answered, unique};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_full_queue_answers_a_known_key(w: &World) {
    let keyed = |key: &str| task("a").key(key);
    w.set_limits(LimitChanges::new().depth(2)).await;
    let done = w.running(keyed("done")).await;
    w.succeed(&done).await;
    let waiting = w.enqueue(keyed("waiting")).await;
    let holder = w.enqueue(unique(OnConflict::Replace)).await;
    let answers = w
        .enqueue_all(
            [keyed("done"), keyed("waiting"), unique(OnConflict::Replace).payload("\"new\""), keyed("new"), task("a")]
                .map(TaskBuilder::build)
                .to_vec(),
        )
        .await;
    assert_eq!(answers[0], answered(&done.lease.task));
    assert_eq!(answers[1], Accepted { refused: Some(Refusal::InProgress), ..answered(&waiting) });
    assert_eq!(answers[2], answered(&holder));
    for answer in &answers[3..] {
        assert!(matches!(answer.refused, Some(Refusal::Full(Full { depth: 2, limit: 2, .. }))), "{answer:?}");
        assert!(w.get(&answer.id).await.is_none());
    }
    assert_eq!(w.find_by_key("new").await, None, "what was refused holds no key");
    w.cancel(&waiting).await;
    assert!(w.enqueue_again(keyed("new")).await.created);
    assert!(w.find_by_key("new").await.is_some());
}

pub(crate) async fn tasks_with_keys_and_without_share_the_room(w: &World) {
    w.set_limits(LimitChanges::new().depth(3)).await;
    let batch = [task("a").key("one"), task("a"), task("a").key("two").delay(MINUTE), task("a").key("three"), task("a")];
    let answers = w.enqueue_all(batch.map(TaskBuilder::build).to_vec()).await;
    let created: Vec<_> = answers.iter().map(|answer| answer.created).collect();
    assert_eq!(created, [true, true, true, false, false]);
    for answer in &answers[3..] {
        assert!(matches!(answer.refused, Some(Refusal::Full(Full { depth: 3, limit: 3, .. }))), "{answer:?}");
        assert!(w.events_of(&answer.id).await.is_empty());
    }
    for answer in &answers[..3] {
        assert_eq!(w.events_of(&answer.id).await, [EventKind::Queued]);
    }
    assert_eq!(w.limits().await.depth, 3);
}

pub(crate) async fn a_paused_queue_fires_no_ticks(w: &World) {
    let id = w.planned(every(60, NIGHTLY), MINUTE).await;
    w.pause(DEFAULT).await;
    w.advance(MINUTE * 2);
    assert!(w.is_silent().await);
    w.resume(DEFAULT).await;
    // Reckoned before a pause, it does not fire in it.
    let tick = w.tick().await;
    w.pause(DEFAULT).await;
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Stale);
    assert_eq!((w.stats().await.queued, w.schedule(&id).await.expect("it stands").fired), (0, 0));
    // But somebody may ask for a run, which waits for the resume.
    let now = w.schedule(&id).await.expect("it stands");
    let asked = Fire { asked: Some(By::new("ann", "at once")), next: now.next, ..firing(&tick, 1, MINUTE) };
    assert_eq!(w.fire(asked).await, Fired::Applied);
    assert!(w.claim(10).await.is_empty());
    w.advance(TICK_HELD);
    w.resume(DEFAULT).await;
    let claimed = w.claim_with(want(10)).await;
    assert_eq!((claimed.deliveries.len(), claimed.ticks.len()), (1, 1), "the tick is late, and not lost");
    assert_eq!(w.fire(firing(&claimed.ticks[0], 1, MINUTE)).await, Fired::Applied);
}

pub(crate) async fn schedules_and_what_they_fire_meet_no_depth_limit(w: &World) {
    w.set_limits(LimitChanges::new().depth(1)).await;
    let id = w.planned(every(60, NIGHTLY), MINUTE).await;
    assert_eq!(w.limits().await.depth, 0, "a schedule is no task");
    let first = w.enqueue(task("a")).await;
    assert!(!w.enqueue_again(task("a")).await.created);
    w.advance(MINUTE);
    let tick = w.claim_with(want(0)).await.ticks.remove(0);
    assert_eq!(w.fire(firing(&tick, 2, MINUTE)).await, Fired::Applied);
    assert_eq!((w.limits().await.depth, w.schedule(&id).await.expect("it stands").fired), (3, 2));
    let held = w.claim(10).await;
    assert_eq!((held.len(), &held[0].lease.task), (3, &first));
    // Nor does what is requeued by hand.
    w.enqueue(task("a")).await;
    w.fail(&held[0]).await;
    w.requeue(&first).await;
    assert_eq!(w.limits().await.depth, 2);
}

pub(crate) async fn a_purge_leaves_schedules_alone(w: &World) {
    let ids = [w.planned(every(60, NIGHTLY), MINUTE).await, w.planned(every(60, "default:other"), MINUTE * 3).await];
    w.enqueue_many(300, || task("a").delay(MINUTE * 2)).await;
    let (_, dropped, stopping) = w.purge(|_| {}).await;
    assert_eq!((dropped, stopping), (300, 0));
    for id in &ids {
        let schedule = w.schedule(id).await.expect("it stands");
        assert_eq!((schedule.fired, schedule.paused), (0, false));
    }
    w.advance(MINUTE);
    let tick = w.tick().await;
    assert_eq!(w.fire(firing(&tick, 1, MINUTE * 60)).await, Fired::Applied);
    assert_eq!(w.ready().await.len(), 1);
    w.steer_to(&ids[1], ScheduleAction::Pause).await;
}

pub(crate) async fn a_purge_frees_keys_and_stops_what_runs(w: &World) {
    let both = || task("a").key("i").unique(Unique::new("u").on_conflict(OnConflict::Error));
    let delayed = w.enqueue(both().delay(MINUTE)).await;
    assert_eq!(w.purge(|_| {}).await.1, 1);
    let again = w.enqueue_again(both()).await;
    assert_eq!(again, answered(&delayed), "an idempotency key is remembered for its time");
    let fresh = || task("a").unique(Unique::new("u").on_conflict(OnConflict::Replace));
    let ready = w.enqueue(fresh()).await;
    w.enqueue_again(fresh().payload("\"new\"")).await;
    assert_eq!(w.purge(|_| {}).await.1, 1);
    assert_eq!((w.status(&ready).await, w.record(&ready).await.payload), (Status::Cancelled, "\"new\"".into()));
    let running = w.running(fresh().payload("\"old\"")).await;
    w.purge(|purge| purge.stop_running = true).await;
    let stops = StopQuery { queues: vec![queue(DEFAULT)], after: None, wait: Duration::ZERO };
    let told = w.store().stops(stops).await.expect("stops");
    assert!(told.tasks.contains(&running.lease.task), "its worker learns of it at once: {told:?}");
    assert_eq!(w.enqueue_again(fresh()).await.refused, Some(Refusal::Unique), "what runs holds its key");
    w.settle_to(&running, Verdict::Release, Status::Cancelled).await;
    assert!(w.enqueue_again(fresh()).await.created);
}

checks! { meetings:
    a_full_queue_answers_a_known_key,
    tasks_with_keys_and_without_share_the_room,
    a_paused_queue_fires_no_ticks,
    schedules_and_what_they_fire_meet_no_depth_limit,
    a_purge_leaves_schedules_alone,
    a_purge_frees_keys_and_stops_what_runs,
}
