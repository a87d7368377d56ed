//! What holds queues back, and purges, as checks use them.

use dtq::store::{LimitsDeclaration, LimitsRequest, PauseRequest, Purge};
use dtq::types::{By, LimitChanges, QueueLimits};

use crate::{DEFAULT, World, queue};

/// Each panics when the store answers with an error.
#[allow(clippy::missing_panics_doc, reason = "said once above")]
impl World {
    /// Pauses a queue; false when it was paused.
    pub async fn pause(&self, name: &str) -> bool {
        self.set_paused(name, true).await
    }

    /// Lets a queue go on; false when it was not paused.
    pub async fn resume(&self, name: &str) -> bool {
        self.set_paused(name, false).await
    }

    async fn set_paused(&self, name: &str, pause: bool) -> bool {
        let by = By::new("tests", if pause { "hold on" } else { "go on" });
        self.store().pause(PauseRequest { queue: queue(name), pause, by }).await.expect("pause")
    }

    /// Changes limits of the default queue.
    pub async fn set_limits(&self, changes: LimitChanges) {
        let by = By::new("tests", "to test them");
        self.store().set_limits(LimitsRequest { queue: queue(DEFAULT), changes, by }).await.expect("set_limits");
    }

    /// Declares how many of a task of the default queue may run at once.
    pub async fn declare_limit(&self, task: &str, limit: Option<u32>) {
        let declaration = LimitsDeclaration { queue: queue(DEFAULT), tasks: vec![(task.to_owned(), limit)] };
        self.store().declare_limits(declaration).await.expect("declare_limits");
    }

    /// What holds the default queue back.
    pub async fn limits(&self) -> QueueLimits {
        self.store().limits(&queue(DEFAULT)).await.expect("limits")
    }

    /// Purges the default queue as told, step by step; gives the number of steps, of dropped tasks, and of those asked to
    /// stop.
    pub async fn purge(&self, like: impl FnOnce(&mut Purge)) -> (usize, u64, u64) {
        let (queue, by, run) = (queue(DEFAULT), By::new("tests", "not needed"), uuid::Uuid::now_v7());
        let mut purge = Purge { queue, task: None, stop_running: false, dry_run: false, by, run, after: None };
        like(&mut purge);
        let (mut dropped, mut stopping) = (0, 0);
        for step in 1..1000 {
            let done = self.store().purge(purge.clone()).await.expect("purge");
            dropped += done.dropped;
            stopping += done.stopping;
            purge.after = done.next;
            if purge.after.is_none() {
                return (step, dropped, stopping);
            }
        }
        panic!("the purge does not come to an end");
    }
}
