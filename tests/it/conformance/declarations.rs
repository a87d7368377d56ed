//! Schedules that stand in the code of tasks, which workers declare.

use std::time::Duration;

use dtq::store::{DECLARED_FOR, DeclareOutcome, Fired, ScheduleAction, ScheduleOutcome, UNDECLARED_KEPT};
use dtq::types::{Origin, ScheduleId};
use dtq_tests::{NIGHTLY, World, every, firing};

const MINUTE: Duration = Duration::from_secs(60);

fn id() -> ScheduleId {
    NIGHTLY.parse().unwrap()
}

pub(crate) async fn a_declared_schedule_is_made_once(w: &World) {
    let (_, outcome) = w.declare(&[every(60, NIGHTLY)], None).await;
    assert_eq!(outcome, DeclareOutcome::Standing);
    let tick = w.tick().await;
    assert_eq!(w.fire(firing(&tick, 0, MINUTE)).await, Fired::Applied);
    let before = w.schedule(&id()).await.unwrap();
    assert_eq!((before.origin, before.declared), (Origin::Code, true));
    // A second worker, and the first one's next heartbeat.
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.declare(&[every(60, NIGHTLY)], Some(before.since)).await;
    assert_eq!(w.schedule(&id()).await.unwrap(), before);
    assert!(w.is_silent().await);
}

pub(crate) async fn the_worker_that_started_last_decides(w: &World) {
    let (old, _) = w.declare(&[every(60, NIGHTLY)], None).await;
    w.advance(Duration::from_secs(1));
    let (new, outcome) = w.declare(&[every(5, NIGHTLY)], None).await;
    assert!(new > old && outcome == DeclareOutcome::Standing);
    assert_eq!(w.schedule(&id()).await.unwrap().spec, every(5, NIGHTLY));
    // Both go on with their heartbeats.
    assert_eq!(w.declare(&[every(60, NIGHTLY)], Some(old)).await.1, DeclareOutcome::Outdated);
    assert_eq!(w.declare(&[every(5, NIGHTLY)], Some(new)).await.1, DeclareOutcome::Standing);
    assert_eq!(w.schedule(&id()).await.unwrap().spec, every(5, NIGHTLY));
    // The new code is taken back.
    w.advance(DECLARED_FOR + Duration::from_secs(1));
    assert_eq!(w.declare(&[every(60, NIGHTLY)], Some(old)).await.1, DeclareOutcome::Standing);
    assert_eq!(w.schedule(&id()).await.unwrap().spec, every(60, NIGHTLY));
}

pub(crate) async fn an_edit_in_code_leaves_one_next_run(w: &World) {
    w.declare(&[every(2, NIGHTLY)], None).await;
    w.fire(firing(&w.tick().await, 0, MINUTE)).await;
    w.advance(Duration::from_secs(1));
    w.declare(&[every(5, NIGHTLY)], None).await;
    let tick = w.tick().await;
    assert_eq!((tick.schedule.next, &tick.schedule.spec), (None, &every(5, NIGHTLY)));
    w.fire(firing(&tick, 0, MINUTE / 2)).await;
    w.advance(MINUTE / 2);
    w.fire(firing(&w.tick().await, 1, MINUTE * 10)).await;
    w.advance(MINUTE);
    w.declare(&[every(5, NIGHTLY)], None).await;
    assert!(w.is_silent().await);
    assert_eq!(w.ready().await.len(), 1);
}

pub(crate) async fn a_pause_outlasts_declarations_and_edits(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.steer_to(&id(), ScheduleAction::Pause).await;
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.advance(Duration::from_secs(1));
    w.declare(&[every(5, NIGHTLY)], None).await;
    // All workers were away for long, and start anew.
    w.advance(DECLARED_FOR * 100);
    assert!(w.is_silent().await);
    w.declare(&[every(5, NIGHTLY)], None).await;
    w.advance(MINUTE / 2);
    assert!(w.is_silent().await);
    assert!(w.schedule(&id()).await.unwrap().paused);
    w.steer_to(&id(), ScheduleAction::Resume).await;
    w.tick().await;
}

pub(crate) async fn what_no_code_has_any_more_stops(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.fire(firing(&w.tick().await, 0, DECLARED_FOR * 2)).await;
    w.advance(DECLARED_FOR * 2);
    assert!(w.is_silent().await, "somebody else's worker reads the queue, and does not fire it");
    assert!(!w.schedule(&id()).await.unwrap().declared);
    w.advance(UNDECLARED_KEPT + MINUTE);
    assert!(w.is_silent().await);
    assert_eq!(w.schedule(&id()).await, None, "in the end it is forgotten");
}

pub(crate) async fn what_is_declared_again_makes_up_for_what_was_missed(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.fire(firing(&w.tick().await, 0, MINUTE)).await;
    let next = w.schedule(&id()).await.unwrap().next;
    w.advance(DECLARED_FOR * 60);
    // Of another program.
    assert!(w.is_silent().await);
    w.declare(&[every(60, NIGHTLY)], None).await;
    let tick = w.tick().await;
    assert_eq!(tick.schedule.next, next, "the policy for missed ticks knows since when");
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Applied);
    assert!(w.schedule(&id()).await.unwrap().declared);
}

pub(crate) async fn a_tick_of_a_schedule_that_stopped_meanwhile_does_not_fire(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    let tick = w.tick().await;
    w.advance(DECLARED_FOR * 2);
    assert!(w.is_silent().await);
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Stale);
}

pub(crate) async fn what_stands_in_code_is_changed_there(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    for action in [ScheduleAction::Remove, ScheduleAction::Change(every(5, NIGHTLY))] {
        assert_eq!(w.steer_schedule(&id(), action).await, ScheduleOutcome::InCode);
    }
    let add = ScheduleAction::Add(every(60, NIGHTLY));
    assert_eq!(w.steer_schedule(&id(), add.clone()).await, ScheduleOutcome::Exists);
    // Once nobody declares it, its name is free.
    w.advance(DECLARED_FOR * 2);
    w.steer_to(&id(), add).await;
    assert_eq!(w.schedule(&id()).await.unwrap().origin, Origin::Client);
    w.tick().await;
}

pub(crate) async fn an_undeclared_one_can_be_removed(w: &World) {
    w.declare(&[every(60, NIGHTLY)], None).await;
    w.advance(DECLARED_FOR * 2);
    w.steer_to(&id(), ScheduleAction::Remove).await;
    assert_eq!(w.schedule(&id()).await, None);
}

pub(crate) async fn a_clients_schedule_is_not_taken_by_code(w: &World) {
    w.add(every(60, NIGHTLY)).await;
    assert_eq!(w.declare(&[every(5, NIGHTLY)], None).await.1, DeclareOutcome::Taken);
    assert_eq!(w.schedule(&id()).await.unwrap().spec, every(60, NIGHTLY));
}

pub(crate) async fn several_are_declared_in_one_step(w: &World) {
    let specs = [every(60, "default:a"), every(60, "default:b"), every(60, "default:c")];
    w.declare(&specs, None).await;
    let ticks = w.ticks_of("default").await;
    assert_eq!(ticks.len(), 3);
    for (tick, tasks) in ticks.iter().zip([0, 0, 0]) {
        assert_eq!(w.fire(firing(tick, tasks, MINUTE)).await, Fired::Applied);
    }
    w.advance(MINUTE / 2);
    assert!(w.is_silent().await);
}

checks! {
    declarations:
    a_declared_schedule_is_made_once,
    the_worker_that_started_last_decides,
    an_edit_in_code_leaves_one_next_run,
    a_pause_outlasts_declarations_and_edits,
    what_no_code_has_any_more_stops,
    what_is_declared_again_makes_up_for_what_was_missed,
    a_tick_of_a_schedule_that_stopped_meanwhile_does_not_fire,
    what_stands_in_code_is_changed_there,
    an_undeclared_one_can_be_removed,
    a_clients_schedule_is_not_taken_by_code,
    several_are_declared_in_one_step,
}
