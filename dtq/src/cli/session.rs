//! What every verb works with.

use super::failure::{Done, Failure};
use super::output::{Output, note};
use crate::client::Client;
use crate::registry::Registry;
use crate::suggest;
use crate::types::{QueueName, QueueStats, TaskId, Timestamp};

/// A client of the store, the program's tasks if it has any, and a way for answers.
pub(super) struct Session {
    pub(super) program: &'static str,
    pub(super) client: Client,
    pub(super) registry: Option<Registry>,
    pub(super) out: Output,
}

impl Session {
    /// The instant that the store's clock shows: what is told as `3m ago` is told by that clock.
    pub(super) async fn now(&self) -> Done<Timestamp> {
        Ok(self.client.describe().await?.now)
    }

    /// The named queues, else all that ever held a task. A name that the store does not know is refused.
    pub(super) async fn queues(&self, named: &[QueueName]) -> Done<Vec<QueueName>> {
        let all = self.client.queues().await?;
        if named.is_empty() {
            return Ok(all);
        }
        let Some(name) = named.iter().find(|name| !all.contains(name)) else { return Ok(named.to_vec()) };
        let known: Vec<_> = all.iter().map(QueueName::as_str).collect();
        Err(unknown("queue", name.as_str(), &known, &format!("`{} queue list` lists them", self.program)))
    }

    /// Says so when a queue never held a task: it may be steered all the same, and it may be misspelt.
    pub(super) async fn doubt(&self, named: &[QueueName]) -> Done {
        let all = self.client.queues().await?;
        let known: Vec<_> = all.iter().map(QueueName::as_str).collect();
        for name in named.iter().filter(|name| !all.contains(name)) {
            let meant = suggest::nearest(name.as_str(), &known).map(|it| format!("; did you mean {it:?}?"));
            note(&format!("no task was ever enqueued in the queue {name:?}{}", meant.unwrap_or_default()));
        }
        Ok(())
    }

    /// Says so when neither this program nor a live worker has a task of this name: it may be misspelt.
    pub(super) async fn doubt_task(&self, name: &str) -> Done {
        let workers = self.client.workers().await?;
        let own = self.registry.iter().flat_map(Registry::iter).map(|task| task.def.name);
        let known: Vec<_> = workers.iter().flat_map(|worker| &worker.tasks).map(String::as_str).chain(own).collect();
        if !known.is_empty() && !known.contains(&name) {
            let meant = suggest::nearest(name, &known).map(|it| format!("; did you mean {it:?}?"));
            note(&format!("no live worker knows a task named {name:?}{}", meant.unwrap_or_default()));
        }
        Ok(())
    }

    /// The named queues with their counts.
    pub(super) async fn counts(&self, named: &[QueueName]) -> Done<Vec<(QueueName, QueueStats)>> {
        let mut counts = Vec::new();
        for queue in self.queues(named).await? {
            let stats = self.client.stats(&queue).await?;
            counts.push((queue, stats));
        }
        Ok(counts)
    }

    /// The tasks of these ids, and that of an idempotency key of a queue. A key that has none is refused.
    pub(super) async fn ids(&self, ids: &[TaskId], keyed: &Keyed) -> Done<Vec<TaskId>> {
        let mut ids = ids.to_vec();
        if let Some(key) = &keyed.key {
            let queue = keyed.in_queue.clone().unwrap_or_default();
            let found = self.client.find_by_key(&queue, key).await?;
            let remedy = if keyed.in_queue.is_none() { ": name its queue with --in-queue" } else { "" };
            let unknown =
                || Failure::work(format!("queue {queue:?} remembers no task of the idempotency key {key:?}{remedy}"));
            ids.push(found.ok_or_else(unknown)?);
        }
        Ok(ids)
    }

    /// The same client, acting for whoever is logged in, unless `DTQ_ACTOR` says who acts.
    pub(super) fn acting(&self) -> Client {
        let named = |name| std::env::var(name).ok().filter(|name: &String| !name.trim().is_empty());
        let user = || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(named);
        match named("DTQ_ACTOR").or_else(user) {
            Some(actor) => self.client.acting_as(actor),
            None => self.client.clone(),
        }
    }
}

/// A task by its idempotency key.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Keyed {
    /// The task of this idempotency key
    #[arg(long, value_name = "KEY")]
    pub(super) key: Option<String>,

    /// The queue of the key [default: default]
    #[arg(long, value_name = "QUEUE", requires = "key")]
    in_queue: Option<QueueName>,
}

/// Refuses a name, and says which was meant, or how to find one.
pub(super) fn unknown(what: &str, name: &str, known: &[&str], remedy: &str) -> Failure {
    let meant = suggest::nearest(name, known).map(|name| format!("did you mean {name:?}? ")).unwrap_or_default();
    Failure::usage(format!("no {what} is named {name:?}: {meant}{remedy}"))
}
