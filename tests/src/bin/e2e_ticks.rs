//! A worker program whose tasks have schedules in its code. Each attempt tells its task's id, which begins with the time of
//! the tick, in the folder that `E2E_FOLDER` names.

use std::io::Write;
use std::path::PathBuf;

use dtq::prelude::*;

/// Every second; what was missed is made up for.
#[dtq::task(every = "1s", missed = "all")]
async fn ticks(ctx: &Context, #[arg(default)] _unused: u32) -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::var_os("E2E_FOLDER").unwrap_or_default());
    let mut told = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("told"))?;
    // One write a line, since several processes tell things.
    told.write_all(format!("{}\n", ctx.task_id()).as_bytes())
}

/// Never while a test runs.
#[dtq::task(cron = "30 2 29 2 *", tz = "Europe/Berlin", queue = "seldom")]
async fn seldom() {}

#[dtq::main]
async fn main() {}
