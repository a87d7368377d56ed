//! The closing summary.

use std::time::Duration;

use dtq::ResultError;
use dtq::types::{Record, Status};

pub(crate) struct Summary {
    pub(crate) accepted: usize,
    pub(crate) succeeded: usize,
    /// The dead letters; the last one is the hopeless task's.
    pub(crate) failed: Vec<Record>,
    pub(crate) elapsed: Duration,
    pub(crate) bytes: u64,
    pub(crate) largest: String,
    pub(crate) attempts: u32,
    pub(crate) error: ResultError,
}

impl Summary {
    /// Prints the summary; an error when a task was lost.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let lost = self.accepted - self.succeeded - self.failed.len();
        let retries = self.attempts - 1 + self.failed.iter().map(|record| record.attempt - 1).sum::<u32>();
        let seconds = self.elapsed.as_secs_f64();
        println!("\nby status");
        println!("  {:<14} {}", Status::Succeeded, self.succeeded);
        println!("  {:<14} {}", Status::DeadLettered, self.failed.len());
        println!("  {:<14} {retries} (the flaky task succeeded in attempt {})", "retries", self.attempts);
        println!("\n{} tasks in {seconds:.2} s: {:.0} a second", self.accepted, self.accepted as f64 / seconds);
        println!("\nlargest files, of {} bytes in all\n{}", self.bytes, self.largest);
        for record in &self.failed {
            let failure = record.last_failure().map(ToString::to_string).unwrap_or_default();
            println!("\ndead letter {}\n  {} {failure}", record.id, record.task);
        }
        println!("  its handle says: {}", self.error);
        anyhow::ensure!(lost == 0, "{lost} of {} tasks did not end", self.accepted);
        println!("\nok: {} succeeded, {} dead-lettered, {lost} lost", self.succeeded, self.failed.len());
        Ok(())
    }
}
