//! Brings tasks into any status.

use std::time::Duration;

use dtq::types::{Delivery, Status, TaskId};

use crate::{TaskBuilder, World, task};

/// The time to live of a task that [`World::bring_to`] lets expire.
pub const LIFE: Duration = Duration::from_secs(30);

/// A task in the wanted status.
#[derive(Debug, Clone)]
pub struct Brought {
    /// Its id.
    pub id: TaskId,
    /// Its last delivery, if it ever started: current when the status is `running`.
    pub delivery: Option<Delivery>,
}

impl World {
    /// Makes a task and brings it into a status, in a queue named after that status.
    ///
    /// `pending` and `retrying` tasks are due in an hour.
    pub async fn bring_to(&self, status: Status) -> Brought {
        self.bring(status, task("brought").queue(&format!("at-{status}"))).await
    }

    /// Brings this task into a status.
    ///
    /// # Panics
    /// When its status is another one at the end.
    pub async fn bring(&self, status: Status, task: TaskBuilder) -> Brought {
        const HOUR: Duration = Duration::from_secs(3600);
        let brought = match status {
            Status::Pending => self.waiting(task.delay(HOUR)).await,
            Status::Queued => self.waiting(task).await,
            Status::Cancelled => {
                let brought = self.waiting(task).await;
                self.cancel(&brought.id).await;
                brought
            }
            Status::Expired => {
                let brought = self.waiting(task.ttl(LIFE)).await;
                self.advance(LIFE + Duration::from_secs(1));
                let queue = brought.id.queue().clone();
                let claimed = self.claim_with(dtq::store::Claim { queue, ..crate::want(1) }).await;
                assert!(claimed.deliveries.is_empty(), "a task past its time to live was handed out");
                brought
            }
            Status::Failed => self.started(task.no_dead_letter()).await,
            _ => self.started(task).await,
        };
        if let Some(delivery) = &brought.delivery {
            match status {
                Status::Retrying => self.retry(delivery, HOUR).await,
                Status::Succeeded => self.succeed(delivery).await,
                Status::Failed | Status::DeadLettered => self.fail(delivery).await,
                _ => {}
            }
        }
        assert_eq!(self.status(&brought.id).await, status);
        brought
    }

    async fn waiting(&self, task: TaskBuilder) -> Brought {
        Brought { id: self.enqueue(task).await, delivery: None }
    }

    async fn started(&self, task: TaskBuilder) -> Brought {
        let delivery = self.running(task).await;
        Brought { id: delivery.lease.task.clone(), delivery: Some(delivery) }
    }
}
