//! The producer, in a process of its own: enqueues by plan, and insists until the store has answered.
//!
//! It may die at any time: the next one reads what this one had noted, and goes on.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dtq::store::CancelOutcome;
use dtq::types::TaskId;
use dtq::{Client, EnqueueError};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::args::ProducerArgs;
use crate::ledger::{CancelAnswer, Entry, Ledger, now, read};
use crate::plan::{Planned, Submission, submissions};
use crate::tasks::new_task;
use crate::worker::{connect, end_with_parent};

/// Submissions on their way at once.
const LANES: usize = 16;

struct Producer {
    client: Client,
    ledger: Ledger,
    /// What earlier processes had noted.
    accepted: HashSet<TaskId>,
    called_off: HashSet<TaskId>,
}

pub(crate) async fn run(args: &ProducerArgs) -> anyhow::Result<()> {
    end_with_parent();
    let (accepted, called_off) = noted(args)?;
    let client = connect(&args.place).await;
    let producer = Arc::new(Producer { client, ledger: args.place.open_ledger()?, accepted, called_off });
    let began = SystemTime::UNIX_EPOCH + Duration::from_micros(args.began);
    let (lanes, mut all) = (Arc::new(Semaphore::new(LANES)), JoinSet::new());
    for submission in submissions(args.seed, args.tasks, Duration::from_millis(args.span_ms))? {
        let due = began + submission.at;
        sleep(due.duration_since(SystemTime::now()).unwrap_or_default()).await;
        let (lane, producer) = (lanes.clone().acquire_owned().await?, producer.clone());
        all.spawn(async move {
            let accepted = producer.submit(&submission).await;
            drop(lane);
            producer.follow(submission, &accepted).await;
        });
    }
    while let Some(ended) = all.join_next().await {
        ended?;
    }
    Ok(())
}

/// What the producers before this one had noted: tasks that were accepted, and calls that were answered.
fn noted(args: &ProducerArgs) -> anyhow::Result<(HashSet<TaskId>, HashSet<TaskId>)> {
    let (mut accepted, mut called_off) = (HashSet::new(), HashSet::new());
    let entries = if args.place.ledger.exists() { read(&args.place.ledger)? } else { Vec::new() };
    for entry in entries {
        match entry {
            Entry::Accepted { task, .. } => drop(accepted.insert(task)),
            Entry::CancelAnswered { task, .. } => drop(called_off.insert(task)),
            _ => {}
        }
    }
    Ok((accepted, called_off))
}

impl Producer {
    /// Enqueues the tasks with one call, again and again until the store has answered. Gives those that are accepted.
    async fn submit(&self, submission: &Submission) -> Vec<bool> {
        let open: Vec<_> = submission.tasks.iter().filter(|task| !self.accepted.contains(&task.id)).collect();
        let refused = !open.is_empty() && !self.enqueue(&open).await;
        submission.tasks.iter().map(|task| !refused || self.accepted.contains(&task.id)).collect()
    }

    /// False when they were refused.
    async fn enqueue(&self, tasks: &[&Planned]) -> bool {
        let refused = |error: String| {
            let note = |task: &&Planned| {
                self.ledger.write(&Entry::Refused { at: now(), task: task.id.clone(), error: error.clone() });
            };
            tasks.iter().for_each(note);
            false
        };
        let batch = match tasks.iter().map(|task| new_task(task)).collect::<anyhow::Result<Vec<_>>>() {
            Ok(batch) => batch,
            Err(error) => return refused(error.to_string()),
        };
        loop {
            match self.client.enqueue_raw(batch.clone()).await {
                Ok(handles) => {
                    for handle in handles {
                        let (task, created) = (handle.id().clone(), !handle.is_duplicate());
                        self.ledger.write(&Entry::Accepted { at: now(), task, created });
                    }
                    return true;
                }
                Err(EnqueueError::Store { cause, .. }) if cause.is_transient() => {
                    for task in tasks {
                        let error = cause.to_string();
                        self.ledger.write(&Entry::Unknown { at: now(), task: task.id.clone(), error });
                    }
                    sleep(Duration::from_millis(100)).await;
                }
                Err(error) => return refused(error.to_string()),
            }
        }
    }

    /// Does what else is planned for tasks that were accepted.
    async fn follow(self: Arc<Self>, submission: Submission, accepted: &[bool]) {
        let mut all = JoinSet::new();
        for (task, _) in submission.tasks.into_iter().zip(accepted).filter(|(_, accepted)| **accepted) {
            let this = self.clone();
            all.spawn(async move {
                tokio::join!(this.repeat(&task), this.call_off(&task));
            });
        }
        all.join_all().await;
    }

    async fn repeat(&self, task: &Planned) {
        let Some(after) = task.again_after else { return };
        sleep(after).await;
        self.enqueue(&[task]).await;
    }

    async fn call_off(&self, task: &Planned) {
        let Some(after) = task.cancel_after.filter(|_| !self.called_off.contains(&task.id)) else { return };
        sleep(after).await;
        self.ledger.write(&Entry::Cancelling { at: now(), task: task.id.clone() });
        loop {
            match self.client.cancel(&task.id, "planned").await {
                Ok(outcome) => {
                    let (task, answer) = (task.id.clone(), answer(outcome));
                    return self.ledger.write(&Entry::CancelAnswered { at: now(), task, answer });
                }
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }
}

fn answer(outcome: CancelOutcome) -> CancelAnswer {
    match outcome {
        CancelOutcome::Cancelled => CancelAnswer::Cancelled,
        CancelOutcome::Requested => CancelAnswer::Requested,
        CancelOutcome::AlreadyFinished(_) => CancelAnswer::Finished,
        CancelOutcome::NotFound => CancelAnswer::NotFound,
    }
}
