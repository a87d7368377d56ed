//! Schedules that clients make: added, changed, paused, resumed, removed, listed.

use std::time::Duration;

use dtq::store::{AuditQuery, Fire, Fired, ScheduleAction, ScheduleOutcome};
use dtq::types::{By, Missed, Overlap, Policy, ScheduleId, ScheduleSpec, Timing, Uuid};
use dtq_tests::{DEFAULT, NIGHTLY, World, every, firing, queue};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_schedule_is_listed_as_it_was_made(w: &World) {
    let spec = ScheduleSpec {
        timing: Timing::Cron { expression: "30 2 * * MON".into(), zone: "Europe/Berlin".into() },
        missed: Missed::All,
        overlap: Overlap::Skip,
        payload: b"{\"n\":\"a\\nb\"}\n\0".to_vec().into(),
        policy: Policy { ttl: Some(MINUTE), max_attempts: 2, ..Policy::DEFAULT },
        ..every(1, NIGHTLY)
    };
    let before = w.now();
    let id = w.add(spec.clone()).await;
    let schedule = w.schedule(&id).await.unwrap();
    assert_eq!(schedule.spec, spec);
    assert!(!schedule.paused && schedule.declared && schedule.since >= before);
    assert_eq!((schedule.next, schedule.last, schedule.fired), (None, None, 0));
}

pub(crate) async fn a_queue_with_nothing_but_a_schedule_is_listed(w: &World) {
    w.add(every(60, "quiet:a")).await;
    w.add(every(60, "quiet:b")).await;
    assert_eq!(w.store().queues().await.unwrap(), [queue("quiet")]);
    let names: Vec<_> = w.store().schedules(&queue("quiet")).await.unwrap().schedules;
    let names: Vec<_> = names.iter().map(|schedule| schedule.spec.id.name()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(w.store().schedules(&queue("none")).await.unwrap().schedules.is_empty());
}

pub(crate) async fn adding_the_same_again_changes_nothing_and_another_is_refused(w: &World) {
    let id = w.planned(every(60, NIGHTLY), MINUTE).await;
    let before = w.schedule(&id).await;
    w.add(every(60, NIGHTLY)).await;
    assert_eq!(w.schedule(&id).await, before);
    assert_eq!(w.steer_schedule(&id, ScheduleAction::Add(every(61, NIGHTLY))).await, ScheduleOutcome::Exists);
    assert_eq!(w.schedule(&id).await, before);
    // The same name in another queue is another schedule.
    w.add(every(61, "other:nightly")).await;
}

pub(crate) async fn a_change_leaves_one_next_run_with_the_new_payload(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    let payload = ScheduleSpec { payload: "{\"new\":1}".into(), ..every(5, NIGHTLY) };
    w.steer_to(&id, ScheduleAction::Change(every(5, NIGHTLY))).await;
    w.steer_to(&id, ScheduleAction::Change(payload.clone())).await;
    let tick = w.tick().await;
    assert_eq!((tick.schedule.next, &tick.schedule.spec), (None, &payload));
    assert_eq!(w.fire(firing(&tick, 0, MINUTE)).await, Fired::Applied);
    assert!(w.is_silent().await, "the run of the old one is gone");
    w.advance(MINUTE);
    assert_eq!(w.fire(firing(&w.tick().await, 1, MINUTE)).await, Fired::Applied);
    assert_eq!(w.claim_one().await.payload, payload.payload);
    // The same once more is no change: the next tick stays.
    let before = w.schedule(&id).await;
    w.steer_to(&id, ScheduleAction::Change(payload)).await;
    assert_eq!(w.schedule(&id).await, before);
}

pub(crate) async fn a_schedule_that_was_removed_and_made_again_is_due_once(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.steer_to(&id, ScheduleAction::Remove).await;
    assert_eq!(w.schedule(&id).await, None);
    w.add(every(2, NIGHTLY)).await;
    let tick = w.tick().await;
    assert_eq!(w.fire(firing(&tick, 0, MINUTE)).await, Fired::Applied);
    w.advance(MINUTE);
    w.tick().await;
}

pub(crate) async fn a_removed_schedule_fires_nothing_more(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let tick = w.tick().await;
    w.steer_to(&id, ScheduleAction::Remove).await;
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Stale);
    w.advance(MINUTE);
    assert!(w.is_silent().await && w.ready().await.is_empty());
    assert_eq!(w.steer_schedule(&id, ScheduleAction::Remove).await, ScheduleOutcome::NotFound);
}

pub(crate) async fn a_paused_schedule_fires_nothing_and_goes_on_from_its_end(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.advance(MINUTE);
    let tick = w.tick().await;
    w.steer_to(&id, ScheduleAction::Pause).await;
    assert_eq!(w.fire(firing(&tick, 1, MINUTE)).await, Fired::Stale, "the pause came first");
    w.advance(MINUTE * 60);
    assert!(w.is_silent().await);
    assert!(w.schedule(&id).await.unwrap().paused);
    let resumed_at = w.now();
    w.steer_to(&id, ScheduleAction::Resume).await;
    let tick = w.tick().await;
    assert!(tick.schedule.since >= resumed_at && tick.schedule.next.is_none(), "ticks of the pause do not count");
    for action in [ScheduleAction::Pause, ScheduleAction::Pause, ScheduleAction::Resume, ScheduleAction::Resume] {
        w.steer_to(&id, action).await;
    }
}

pub(crate) async fn a_change_of_a_paused_schedule_does_not_resume_it(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    w.steer_to(&id, ScheduleAction::Pause).await;
    w.steer_to(&id, ScheduleAction::Change(every(3, NIGHTLY))).await;
    w.advance(MINUTE * 2);
    assert!(w.is_silent().await);
    assert!(w.schedule(&id).await.unwrap().paused);
}

pub(crate) async fn what_is_not_there_cannot_be_steered(w: &World) {
    let id: ScheduleId = NIGHTLY.parse().unwrap();
    for action in [
        ScheduleAction::Pause,
        ScheduleAction::Resume,
        ScheduleAction::Remove,
        ScheduleAction::Change(every(2, NIGHTLY)),
    ] {
        assert_eq!(w.steer_schedule(&id, action).await, ScheduleOutcome::NotFound);
    }
    assert_eq!(w.schedule(&id).await, None);
}

pub(crate) async fn a_queue_holds_a_thousand_schedules(w: &World) {
    for n in 0..dtq::store::MOST_SCHEDULES {
        w.add(every(60, &format!("{DEFAULT}:s{n}"))).await;
    }
    let one_more = every(60, NIGHTLY);
    assert_eq!(w.steer_schedule(&one_more.id.clone(), ScheduleAction::Add(one_more.clone())).await, ScheduleOutcome::Full);
    w.steer_to(&"default:s7".parse().unwrap(), ScheduleAction::Remove).await;
    w.add(one_more).await;
}

pub(crate) async fn schedules_outlast_the_handle_that_made_them(w: &World) {
    let id = w.planned(every(2, NIGHTLY), MINUTE).await;
    let other = w.second_store().await;
    let seen = other.schedules(id.queue()).await.unwrap().schedules;
    assert_eq!(seen, [w.schedule(&id).await.unwrap()]);
}

pub(crate) async fn what_was_done_by_hand_is_in_the_audit_log(w: &World) {
    let id = w.add(every(60, NIGHTLY)).await;
    w.steer_to(&id, ScheduleAction::Change(every(61, NIGHTLY))).await;
    w.steer_to(&id, ScheduleAction::Pause).await;
    let schedule = w.schedule(&id).await.unwrap();
    let fire = Fire {
        id: id.clone(),
        revision: schedule.revision,
        from: None,
        next: None,
        tick: None,
        tasks: vec![schedule.spec.new_task(Uuid::now_v7())],
        asked: Some(By::new("ben", "a customer waits")),
    };
    assert_eq!(w.fire(fire.clone()).await, Fired::Applied);
    w.steer_to(&id, ScheduleAction::Resume).await;
    w.steer_to(&id, ScheduleAction::Remove).await;
    // What changed nothing is not in it, nor is what workers do.
    assert_eq!(w.fire(fire).await, Fired::Stale);
    w.steer_schedule(&id, ScheduleAction::Remove).await;
    w.add(every(60, NIGHTLY)).await;
    w.add(every(60, NIGHTLY)).await;
    w.steer_to(&id, ScheduleAction::Resume).await;
    w.fire(firing(&w.tick().await, 1, MINUTE)).await;
    w.declare(&[every(60, "default:coded")], None).await;
    let query = AuditQuery { queue: queue(DEFAULT), before: None, limit: 20 };
    let log = w.store().audit(query).await.unwrap();
    let actions: Vec<_> = log.iter().rev().map(|entry| entry.action.as_str()).collect();
    let expected = ["add", "change", "pause", "run", "resume", "remove", "add"].map(|action| format!("{action}_schedule"));
    assert_eq!(actions, expected);
    assert!(log.iter().all(|entry| entry.target == NIGHTLY));
    assert_eq!((log[3].tasks, &log[3].by), (1, &By::new("ben", "a customer waits")));
    assert_eq!((log[0].tasks, &log[0].by), (0, &By::new("ann", "tidying up")));
}

checks! {
    schedules:
    what_was_done_by_hand_is_in_the_audit_log,
    a_schedule_is_listed_as_it_was_made,
    a_queue_with_nothing_but_a_schedule_is_listed,
    adding_the_same_again_changes_nothing_and_another_is_refused,
    a_change_leaves_one_next_run_with_the_new_payload,
    a_schedule_that_was_removed_and_made_again_is_due_once,
    a_removed_schedule_fires_nothing_more,
    a_paused_schedule_fires_nothing_and_goes_on_from_its_end,
    a_change_of_a_paused_schedule_does_not_resume_it,
    what_is_not_there_cannot_be_steered,
    a_queue_holds_a_thousand_schedules,
    schedules_outlast_the_handle_that_made_them,
}
