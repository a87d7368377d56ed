//! `cron = ".."`, `tz = ".."`, `every = ".."`, `missed = ".."`, `overlap = ".."`.
use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{Missed, Overlap};
use dtq::{ScheduleDef, TimingDef};

#[dtq::task(cron = "*/5 * * * *")]
async fn sweep() {}
#[dtq::task(cron = "30 2 * * MON-FRI", tz = "Europe/Berlin", missed = "skip", overlap = "skip")]
fn report(ctx: &Context, #[state] _rates: &Vec<u64>, #[arg(default)] limit: u32) -> u32 {
    ctx.attempt() + limit
}
#[dtq::task(every = "90s", missed = "all", overlap = "allow")]
async fn ping() {}
#[dtq::task(cron = "@Daily", tz = "UTC", missed = "once")]
async fn rotate() {}
#[dtq::task(cron = "0 0 29 2 *")]
async fn leap() {}

fn of<T: Task>() -> ScheduleDef {
    T::DEF.schedule.unwrap()
}

#[test]
fn works() {
    assert!(matches!(of::<sweep>().timing, TimingDef::Cron { expression: "*/5 * * * *", zone: "UTC" }));
    assert_eq!((of::<sweep>().missed, of::<sweep>().overlap), (Missed::Once, Overlap::Allow));
    assert!(matches!(of::<report>().timing, TimingDef::Cron { zone: "Europe/Berlin", .. }));
    assert_eq!((of::<report>().missed, of::<report>().overlap), (Missed::Skip, Overlap::Skip));
    assert!(matches!(of::<ping>().timing, TimingDef::Every(every) if every == Duration::from_secs(90)));
    assert_eq!(of::<ping>().missed, Missed::All);
    for schedule in [of::<sweep>(), of::<report>(), of::<ping>(), of::<rotate>(), of::<leap>()] {
        assert!(schedule.timetable().is_ok());
    }
}
