//! Schedules that are added at run time, fired by workers.

use std::time::Duration;

use dtq::timetable::Timetable;
use dtq::types::{Missed, Overlap, ScheduleId, Status};
use dtq::{NewSchedule, ScheduleError, ScheduleInfo};
use dtq_tests::{World, eventually};
use futures_util::future::join_all;

use super::{Bench, PATIENCE, Probe, on_both_stores};

const MINUTE: Duration = Duration::from_secs(60);

#[dtq::task]
async fn chimes(#[state] probe: &Probe, what: String) {
    probe.note(what);
}

#[dtq::task]
async fn chimes_long(#[state] probe: &Probe) {
    probe.note("begins");
    probe.inside(probe.gate()).await;
}

/// Every ten minutes, with a note at each tick.
fn every_ten_minutes(what: &str) -> NewSchedule {
    let timetable = Timetable::every(MINUTE * 10).unwrap();
    NewSchedule::new("chimes", timetable, &chimes::call(what.to_owned())).unwrap()
}

impl Bench<'_> {
    async fn add_schedule(&self, schedule: NewSchedule) -> ScheduleId {
        self.client.schedules().add(schedule).await.unwrap()
    }

    async fn schedule(&self, id: &ScheduleId) -> ScheduleInfo {
        self.client.schedules().get(id).await.unwrap().unwrap()
    }

    /// Waits until a worker has reckoned the next tick, and lets the clock come to a time after it.
    async fn comes_to(&self, id: &ScheduleId, after: Duration) {
        let next = || async { self.schedule(id).await.schedule.next.filter(|next| *next > self.w.now()) };
        let next = eventually("the next tick is reckoned", next).await;
        self.w.advance(next.since(self.w.now()) + after);
    }
}

async fn each_tick_makes_one_task_with_three_workers(w: &World) {
    let b = Bench::new(w);
    let workers = [b.worker().await, b.worker().await, b.worker().await];
    let id = b.add_schedule(every_ten_minutes("bim")).await;
    for tick in 1..=8 {
        b.comes_to(&id, Duration::from_millis(5)).await;
        b.probe.noted("bim", tick).await;
    }
    let info = b.schedule(&id).await;
    assert_eq!((info.schedule.fired, b.probe.count("bim")), (8, 8));
    assert_eq!(info.words, "every 10 minutes");
    let last = w.get(&info.schedule.last_task.unwrap()).await.unwrap();
    assert_eq!(last.payload.as_ref(), br#"{"what":"bim"}"#);
    join_all(workers.map(dtq::RunningWorker::stop)).await;
}

/// Plans the first tick, then lets it and five more pass without a worker.
async fn missed_ticks(w: &World, missed: Missed) -> usize {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let id = b.add_schedule(every_ten_minutes("bim").missed(missed)).await;
    let next = eventually("the next tick is reckoned", || async { b.schedule(&id).await.schedule.next }).await;
    worker.stop().await;
    w.advance(next.since(w.now()) + MINUTE * 55);
    let worker = b.worker().await;
    let over = || async { b.schedule(&id).await.schedule.next.filter(|next| *next > w.now()) };
    eventually("the missed ticks are dealt with", over).await;
    let fired = usize::try_from(b.schedule(&id).await.schedule.fired).unwrap();
    b.probe.noted("bim", fired).await;
    worker.stop().await;
    b.probe.count("bim")
}

async fn missed_ticks_are_left_out_where_that_is_wanted(w: &World) {
    assert_eq!(missed_ticks(w, Missed::Skip).await, 0);
}

async fn one_task_makes_up_for_missed_ticks(w: &World) {
    assert_eq!(missed_ticks(w, Missed::Once).await, 1);
}

async fn each_missed_tick_is_made_up_for_where_that_is_wanted(w: &World) {
    assert_eq!(missed_ticks(w, Missed::All).await, 6);
}

async fn a_tick_does_not_wait_for_a_worker_that_is_busy(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(Bench::config().concurrency(1)).await;
    let id = b.add_schedule(every_ten_minutes("bim")).await;
    eventually("the next tick is reckoned", || async { b.schedule(&id).await.schedule.next }).await;
    chimes_long::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("begins", 1).await;
    for tick in 1..=3 {
        b.comes_to(&id, Duration::from_millis(5)).await;
        let fired = || async { (b.schedule(&id).await.schedule.fired == tick).then_some(()) };
        eventually("the tick fires", fired).await;
    }
    assert_eq!(b.probe.count("bim"), 0, "nobody has time for them yet");
    b.probe.open(1);
    b.probe.noted("bim", 3).await;
    worker.stop().await;
}

async fn a_tick_is_passed_over_while_the_last_task_runs(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let timetable = Timetable::cron("*/10 * * * *", "Europe/Berlin").unwrap();
    let schedule = NewSchedule::new("long", timetable, &chimes_long::call()).unwrap().overlap(Overlap::Skip);
    let id = b.add_schedule(schedule).await;
    b.comes_to(&id, Duration::from_millis(5)).await;
    b.probe.noted("begins", 1).await;
    b.comes_to(&id, Duration::from_millis(5)).await;
    let passed = || async { (b.schedule(&id).await.schedule.passed == 1).then_some(()) };
    eventually("a tick is passed over", passed).await;
    let first = b.client.handle::<()>(b.schedule(&id).await.schedule.last_task.unwrap());
    b.probe.open(1);
    b.reaches(&first, Status::Succeeded).await;
    b.comes_to(&id, Duration::from_millis(5)).await;
    b.probe.noted("begins", 2).await;
    b.probe.open(1);
    worker.stop().await;
}

async fn an_operator_steers_a_schedule(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let schedules = b.client.schedules();
    let id = b.add_schedule(every_ten_minutes("old")).await;
    assert!(matches!(schedules.add(every_ten_minutes("other")).await, Err(ScheduleError::Exists(_))));
    schedules.pause(&id).await.unwrap();
    let told = b.schedule(&id).await.to_string();
    assert_eq!(told, "default:chimes: chimes, every 10 minutes; paused");
    schedules.run_now(&id).await.unwrap().result(PATIENCE).await.unwrap();
    w.advance(MINUTE * 30);
    assert_eq!(b.probe.notes(), ["old"]);
    schedules.change(every_ten_minutes("new")).await.unwrap();
    schedules.resume(&id).await.unwrap();
    b.comes_to(&id, Duration::from_millis(5)).await;
    b.probe.noted("new", 1).await;
    let listed = schedules.list().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].next.is_some() && listed[0].to_string().contains("; next 2"), "{}", listed[0]);
    schedules.remove(&id).await.unwrap();
    assert!(schedules.list().await.unwrap().is_empty());
    assert!(matches!(schedules.run_now(&id).await, Err(ScheduleError::NotFound(_))));
    w.advance(MINUTE * 30);
    // Whoever claims this would fire what is due.
    chimes::enqueue("end".into()).on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
    assert_eq!(b.probe.notes(), ["old", "new", "end"]);
    worker.stop().await;
}

async fn what_could_not_be_enqueued_is_no_schedule(w: &World) {
    let b = Bench::new(w);
    let timetable = Timetable::every(MINUTE).unwrap();
    let long = chimes::call("x".repeat(2 * 1024 * 1024));
    let schedule = NewSchedule::new("long", timetable.clone(), &long).unwrap();
    assert!(matches!(b.client.schedules().add(schedule).await, Err(ScheduleError::Enqueue(_))));
    let delayed = chimes::call("x".into()).delay(MINUTE);
    assert!(matches!(NewSchedule::new("late", timetable.clone(), &delayed), Err(ScheduleError::Enqueue(_))));
    assert!(matches!(NewSchedule::new("@", timetable, &chimes::call("x".into())), Err(ScheduleError::Name(_))));
    assert!(b.client.schedules().list().await.unwrap().is_empty());
}

on_both_stores! {
    each_tick_makes_one_task_with_three_workers,
    missed_ticks_are_left_out_where_that_is_wanted,
    one_task_makes_up_for_missed_ticks,
    each_missed_tick_is_made_up_for_where_that_is_wanted,
    a_tick_does_not_wait_for_a_worker_that_is_busy,
    a_tick_is_passed_over_while_the_last_task_runs,
    an_operator_steers_a_schedule,
    what_could_not_be_enqueued_is_no_schedule,
}
