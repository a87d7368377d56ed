//! Ticks: each fires once, whoever reckons it.

use std::time::Duration;

use dtq::store::{Claim, Fire, Fired, ScheduleAction, TICK_HELD, Wait};
use dtq::types::{By, EventKind, Overlap, ScheduleSpec, Status};
use dtq_tests::{DEFAULT, NIGHTLY, World, every, firing, promptly, queue, task, want};
use futures_util::future::join_all;

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_new_schedule_is_reckoned_at_once_and_due_in_its_time(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    let claimed = w.claim_with(want(1)).await;
    assert!(claimed.ticks.is_empty());
    w.assert_left(claimed.next_due, MINUTE);
    w.advance(MINUTE);
    let tick = w.tick().await;
    assert!(tick.schedule.next.unwrap() <= tick.now);
}

pub(crate) async fn a_fired_tick_is_an_ordinary_task(w: &World) {
    let id = w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let fire = firing(&w.tick().await, 1, MINUTE);
    assert_eq!(w.fire(fire.clone()).await, Fired::Applied);
    let made = &fire.tasks[0].id;
    assert_eq!(w.events_of(made).await, [EventKind::Queued]);
    let delivery = w.claim_one().await;
    assert_eq!((&delivery.lease.task, delivery.task.as_str(), delivery.lease.attempt), (made, "report", 1));
    w.succeed(&delivery).await;
    let schedule = w.schedule(&id).await.unwrap();
    assert_eq!((schedule.fired, schedule.last_task.as_ref(), schedule.last), (1, Some(made), fire.tick));
    assert_eq!(schedule.next, fire.next);
}

pub(crate) async fn a_tick_fires_once_of_many_who_try(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let tick = w.tick().await;
    let stores = join_all((0..6).map(|_| w.second_store())).await;
    let tries = stores.iter().flat_map(|store| {
        let tick = &tick;
        (0..4).map(move |_| store.fire(firing(tick, 1, MINUTE)))
    });
    let fired = join_all(tries).await;
    assert_eq!(fired.into_iter().filter(|fired| matches!(fired, Ok(Fired::Applied))).count(), 1);
    assert_eq!(w.ready().await.len(), 1);
}

pub(crate) async fn a_tick_is_answered_to_one_of_many_who_claim(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let stores = join_all((0..6).map(|_| w.second_store())).await;
    let claims = join_all(stores.iter().map(|store| store.claim(want(1)))).await;
    assert_eq!(claims.into_iter().map(|claimed| claimed.unwrap().ticks.len()).sum::<usize>(), 1);
}

pub(crate) async fn a_tick_that_a_dead_worker_held_is_answered_again(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let first = w.tick().await;
    assert!(w.is_silent().await);
    w.advance(TICK_HELD);
    let second = w.tick().await;
    assert_eq!(w.fire(firing(&second, 1, MINUTE)).await, Fired::Applied);
    // It was only stopped, and goes on now.
    assert_eq!(w.fire(firing(&first, 1, MINUTE)).await, Fired::Stale);
    assert_eq!(w.ready().await.len(), 1);
}

pub(crate) async fn a_fire_that_is_sent_twice_fires_once(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let fire = firing(&w.tick().await, 1, MINUTE);
    assert_eq!(w.fire(fire.clone()).await, Fired::Applied);
    assert_eq!(w.fire(fire).await, Fired::Stale);
    assert_eq!(w.ready().await.len(), 1);
}

pub(crate) async fn what_was_reckoned_before_a_change_does_not_fire(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let old = w.tick().await;
    w.steer_to(&id, ScheduleAction::Change(every(5, NIGHTLY))).await;
    assert_eq!(w.fire(firing(&old, 1, MINUTE)).await, Fired::Stale);
    // Nor after it was removed and made again as it was.
    w.steer_to(&id, ScheduleAction::Remove).await;
    w.add(every(2, NIGHTLY)).await;
    assert_eq!(w.fire(firing(&old, 1, MINUTE)).await, Fired::Stale);
    assert!(w.ready().await.is_empty());
}

pub(crate) async fn several_ticks_fire_in_one_step(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    assert_eq!(w.fire(firing(&w.tick().await, 100, MINUTE)).await, Fired::Applied);
    assert_eq!(w.schedule(&id).await.unwrap().fired, 100);
    assert_eq!(w.stats().await.queued, 100);
}

pub(crate) async fn a_tick_is_passed_over_while_the_last_task_is_unfinished(w: &World) {
    let skipping = ScheduleSpec { overlap: Overlap::Skip, ..every(60, NIGHTLY) };
    let id = w.planned(skipping, MINUTE).await;
    w.advance(MINUTE);
    assert_eq!(w.fire(firing(&w.tick().await, 1, MINUTE)).await, Fired::Applied);
    let last = w.schedule(&id).await.unwrap().last;
    let mut running = None;
    for status in [Status::Queued, Status::Running, Status::Retrying] {
        match &running {
            None if status == Status::Running => running = Some(w.claim_one().await),
            Some(delivery) => w.retry(delivery, MINUTE * 60).await,
            None => {}
        }
        w.advance(MINUTE);
        let fire = firing(&w.tick().await, 1, MINUTE);
        assert_eq!(w.fire(fire.clone()).await, Fired::PassedOver, "{status}");
        assert_eq!(w.store().get(&fire.tasks[0].id).await.unwrap(), None);
    }
    let schedule = w.schedule(&id).await.unwrap();
    assert_eq!((schedule.fired, schedule.passed, schedule.last), (1, 3, last));
    let finished = schedule.last_task.unwrap();
    w.cancel(&finished).await;
    w.advance(MINUTE);
    assert_eq!(w.fire(firing(&w.tick().await, 1, MINUTE)).await, Fired::Applied);
}

pub(crate) async fn a_last_task_that_is_forgotten_is_finished(w: &World) {
    let mut skipping = ScheduleSpec { overlap: Overlap::Skip, ..every(60, NIGHTLY) };
    skipping.policy.retention = Duration::ZERO;
    w.planned(skipping, MINUTE).await;
    for _ in 0..2 {
        w.advance(MINUTE);
        assert_eq!(w.fire(firing(&w.tick().await, 1, MINUTE)).await, Fired::Applied);
        w.succeed(&w.claim_one().await).await;
    }
}

pub(crate) async fn what_was_asked_for_fires_also_when_it_is_paused_or_overlaps(w: &World) {
    let skipping = ScheduleSpec { overlap: Overlap::Skip, ..every(60, NIGHTLY) };
    let id = w.planned(skipping, MINUTE).await;
    w.steer_to(&id, ScheduleAction::Pause).await;
    for count in 1..=2 {
        let schedule = w.schedule(&id).await.unwrap();
        let fire = Fire {
            id: id.clone(),
            revision: schedule.revision,
            from: schedule.next,
            next: None,
            tick: None,
            tasks: vec![schedule.spec.new_task(dtq::types::Uuid::now_v7())],
            asked: Some(By::new("ann", "now")),
        };
        assert_eq!(w.fire(fire).await, Fired::Applied);
        let after = w.schedule(&id).await.unwrap();
        assert_eq!((after.fired, after.paused, after.next), (count, true, schedule.next));
    }
    w.advance(MINUTE * 2);
    assert!(w.is_silent().await, "it is paused all the same");
}

pub(crate) async fn what_was_asked_for_leaves_the_ticks_where_they_are(w: &World) {
    let asked = |fire: Fire| Fire { next: None, tick: None, asked: Some(By::new("ann", "now")), ..fire };
    let id = w.add(every(60, NIGHTLY)).await;
    let unreckoned = w.tick().await;
    assert_eq!(w.fire(asked(firing(&unreckoned, 1, MINUTE))).await, Fired::Applied);
    assert_eq!(w.fire(firing(&unreckoned, 0, MINUTE)).await, Fired::Applied, "who reckoned it goes on");
    w.advance(MINUTE);
    let due = w.tick().await;
    assert_eq!(w.fire(asked(firing(&due, 1, MINUTE))).await, Fired::Applied);
    assert_eq!(w.fire(firing(&due, 1, MINUTE)).await, Fired::Applied);
    w.advance(MINUTE);
    w.tick().await;
    assert_eq!(w.schedule(&id).await.unwrap().fired, 3);
}

pub(crate) async fn a_schedule_without_a_next_tick_is_not_due_again(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let fire = Fire { next: None, ..firing(&w.tick().await, 1, MINUTE) };
    assert_eq!(w.fire(fire).await, Fired::Applied);
    w.advance(MINUTE * 10_000);
    assert!(w.is_silent().await);
}

pub(crate) async fn ticks_and_due_tasks_come_in_one_claim(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    let delayed = w.enqueue(task("a").delay(MINUTE)).await;
    w.advance(MINUTE * 2);
    let claimed = w.claim_with(want(5)).await;
    assert_eq!(claimed.ticks.len(), 1);
    assert_eq!(claimed.deliveries.iter().map(|one| &one.lease.task).collect::<Vec<_>>(), [&delayed]);
}

pub(crate) async fn only_its_own_queue_sees_a_tick(w: &World) {
    w.add(every(60, "other:nightly")).await;
    assert!(w.is_silent().await);
    assert_eq!(w.ticks_of("other").await.len(), 1);
}

pub(crate) async fn a_waiting_worker_learns_of_a_new_schedule(w: &World) {
    let store = w.second_store().await;
    let wait = Wait { queues: vec![queue(DEFAULT)], timeout: MINUTE };
    let waiting = tokio::spawn(async move { store.wait(wait).await });
    let added = async {
        w.add(every(60, NIGHTLY)).await;
        waiting.await.unwrap().unwrap();
    };
    promptly("the wait", added).await;
}

pub(crate) async fn a_waiting_worker_wakes_for_a_fired_tick(w: &World) {
    w.planned(every(60, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let tick = w.tick().await;
    // What was there to wake for is gone.
    w.drain(Claim { max: 1, ..want(1) }).await;
    let store = w.second_store().await;
    let wait = Wait { queues: vec![queue(DEFAULT)], timeout: MINUTE };
    let waiting = tokio::spawn(async move { store.wait(wait).await });
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Applied);
    promptly("the wait", async { waiting.await.unwrap().unwrap() }).await;
    assert_eq!(w.ready().await.len(), 1);
}

checks! {
    ticks:
    a_new_schedule_is_reckoned_at_once_and_due_in_its_time,
    a_fired_tick_is_an_ordinary_task,
    a_tick_fires_once_of_many_who_try,
    a_tick_is_answered_to_one_of_many_who_claim,
    a_tick_that_a_dead_worker_held_is_answered_again,
    a_fire_that_is_sent_twice_fires_once,
    what_was_reckoned_before_a_change_does_not_fire,
    several_ticks_fire_in_one_step,
    a_tick_is_passed_over_while_the_last_task_is_unfinished,
    a_last_task_that_is_forgotten_is_finished,
    what_was_asked_for_fires_also_when_it_is_paused_or_overlaps,
    what_was_asked_for_leaves_the_ticks_where_they_are,
    a_schedule_without_a_next_tick_is_not_due_again,
    ticks_and_due_tasks_come_in_one_claim,
    only_its_own_queue_sees_a_tick,
    a_waiting_worker_learns_of_a_new_schedule,
    a_waiting_worker_wakes_for_a_fired_tick,
}
