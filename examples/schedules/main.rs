//! Tasks that come again and again: one by its code, one that is added at run time; listed in plain words, run by hand,
//! stopped after a few ticks.
//!
//! `cargo run --example schedules`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::time::Duration;

use dtq::prelude::*;
use dtq::timetable::Timetable;
use dtq::{NewSchedule, Worker, WorkerConfig};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What the tasks say.
type Said = UnboundedSender<String>;

/// Stands in the code: whoever runs it has the schedule.
#[dtq::task(every = "2s")]
async fn sweep(ctx: &Context, #[state] said: &Said) {
    // Nobody may be listening any more.
    let _ = said.send(format!("sweep: {}", ctx.task_id()));
}

/// Comes at a time of day; here it is run by hand.
#[dtq::task(cron = "30 2 * * MON-FRI", tz = "Europe/Berlin", missed = "once", overlap = "skip")]
async fn nightly(#[state] said: &Said) {
    let _ = said.send("nightly: as if it were half past two".into());
}

#[dtq::task]
async fn greet(#[state] said: &Said, name: String) {
    let _ = said.send(format!("greet: hello, {name}"));
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::connect("sqlite::memory:")?;
    let (said, mut saying) = unbounded_channel::<String>();
    let mut app = App::new();
    app.state(said).only_registered().register::<sweep>().register::<nightly>().register::<greet>();
    let worker = Worker::new(client.clone(), app, WorkerConfig::new())?.start().await?;

    let timetable = Timetable::every(Duration::from_secs(3))?;
    let schedules = client.schedules().because("an example");
    let id = schedules.add(NewSchedule::new("greet-ann", timetable, &greet::call("Ann".into()))?).await?;
    for _ in 0..4 {
        println!("{}", saying.recv().await.unwrap_or_default());
    }
    for schedule in schedules.list().await? {
        println!("- {schedule}");
    }
    schedules.run_now(&"default:nightly".parse()?).await?;
    schedules.remove(&id).await?;
    for _ in 0..2 {
        println!("{}", saying.recv().await.unwrap_or_default());
    }
    worker.stop().await;
    Ok(())
}
