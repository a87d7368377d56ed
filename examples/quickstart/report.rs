//! The closing summary.

use std::time::Duration;

use dtq::ResultError;
use dtq::types::{QueueStats, Record, Status};

pub(crate) struct Summary {
    pub(crate) accepted: u64,
    pub(crate) stats: QueueStats,
    pub(crate) elapsed: Duration,
    pub(crate) bytes: u64,
    pub(crate) largest: String,
    pub(crate) attempts: u32,
    pub(crate) dead: Record,
    pub(crate) error: Option<ResultError>,
}

impl Summary {
    /// Prints the summary; an error when a task was lost.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        println!("\nby status");
        for status in Status::ALL {
            let count = self.stats.of(status);
            if count > 0 {
                println!("  {status:<14} {count}");
            }
        }
        println!("  retries        {} (the flaky task succeeded in attempt {})", self.stats.retries, self.attempts);
        let seconds = self.elapsed.as_secs_f64();
        println!("\n{} tasks in {seconds:.2} s: {:.0} a second", self.accepted, self.accepted as f64 / seconds);

        println!("\nlargest files, of {} bytes in all\n{}", self.bytes, self.largest);
        let failure = self.dead.last_failure().map(ToString::to_string).unwrap_or_default();
        println!("\ndead letter {}\n  {} {failure}", self.dead.id, self.dead.task);
        if let Some(error) = &self.error {
            println!("  its handle says: {error}");
        }

        let ended = self.stats.succeeded + self.stats.dead_lettered;
        let lost = self.accepted.saturating_sub(ended);
        anyhow::ensure!(lost == 0, "{lost} of {} tasks did not end", self.accepted);
        println!("\nok: {} succeeded, {} dead-lettered, {lost} lost", self.stats.succeeded, self.stats.dead_lettered);
        Ok(())
    }
}
