//! `enqueue`: one call of a task by name, held against the task before it is stored.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::runtime::Builder;

use super::{Failure, print};
use crate::client::{Client, EnqueueError};
use crate::registry::{Registration, Registry};
use crate::suggest;
use crate::types::{Deferral, NewTask, Policy, Priority, QueueName, TaskId};

/// What to enqueue; options that are not given are the task's own.
#[derive(Debug, Clone, Args)]
pub(super) struct Enqueue {
    /// The task, as `tasks` lists it
    pub(super) task: String,

    /// Its arguments, a JSON object by name
    #[arg(value_name = "JSON", default_value = "{}")]
    payload: String,

    /// Send it to this queue [default: the task's]
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,

    /// From 0 (last) to 9 (first) [default: the task's]
    #[arg(long, value_name = "0..9")]
    priority: Option<u8>,

    /// Let it become ready later, such as 10m
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    delay: Option<Duration>,

    /// Executions before it fails for good [default: the task's]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,

    /// An id of your own, QUEUE:UUID: the same id enqueued twice is one task
    #[arg(long, value_name = "ID")]
    id: Option<TaskId>,

    /// Answer with a JSON object instead of the id
    #[arg(long)]
    json: bool,
}

impl Enqueue {
    /// Sends it through `client`, and prints the id.
    pub(super) fn run(&self, registry: &Registry, client: &Client) -> Result<ExitCode, Failure> {
        let task = self.new_task(self.registration(registry)?)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Failure::work)?;
        let handles = runtime.block_on(client.enqueue_raw(vec![task])).map_err(|error| match error {
            EnqueueError::Store { .. }
            | EnqueueError::InProgress { .. }
            | EnqueueError::Unique { .. }
            | EnqueueError::QueueFull { .. } => Failure::work(error),
            // Refused before it was sent.
            error => Failure::usage(error),
        })?;
        for handle in handles {
            let id = handle.id();
            print(&match self.json {
                true => format!(
                    "{}\n",
                    json!({ "id": id, "task": self.task, "queue": id.queue().to_string(), "created": !handle.is_duplicate() })
                ),
                false => format!("{id}\n"),
            })?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn registration<'a>(&self, registry: &'a Registry) -> Result<&'a Registration, Failure> {
        registry.get(&self.task).ok_or_else(|| {
            let known: Vec<_> = registry.iter().map(|task| task.def.name).collect();
            let meant = suggest::nearest(&self.task, &known).map(|name| format!("did you mean {name:?}? "));
            let meant = meant.unwrap_or_default();
            Failure::usage(format!("no task is named {:?}: {meant}The command `tasks` lists them", self.task))
        })
    }

    fn new_task(&self, task: &Registration) -> Result<NewTask, Failure> {
        let of = |error: &dyn ToString| Failure::usage(format!("task {:?}: {}", self.task, error.to_string()));
        let payload = self.payload.as_bytes();
        task.check_payload(payload).map_err(|error| of(&error))?;
        let def = &task.def;
        let priority = Priority::new(self.priority.unwrap_or(def.priority)).map_err(|error| of(&error))?;
        let max_attempts = self.max_attempts.unwrap_or(def.max_attempts);
        let (idempotency, unique) = (task.keys)(payload).map_err(|error| of(&error))?;
        let new = NewTask {
            priority,
            deferral: self.delay.map_or(Deferral::None, Deferral::After),
            policy: Policy { max_attempts, ..def.policy() },
            unique,
            ..NewTask::new(self.id(def.queue)?, self.task.as_str(), payload.to_vec())
        };
        Ok(match idempotency {
            Some(key) => new.idempotent(key),
            None => new,
        })
    }

    /// The id, which says the queue. A call with an id of its own goes to the queue of the id.
    fn id(&self, queue: &str) -> Result<TaskId, Failure> {
        let queue = || QueueName::new(self.queue.as_deref().unwrap_or(queue)).map_err(Failure::usage);
        match &self.id {
            None => Ok(TaskId::generate(queue()?)),
            Some(id) if self.queue.is_none() || *id.queue() == queue()? => Ok(id.clone()),
            Some(id) => Err(Failure::usage(format!("the id {id} is not of the queue {:?}", queue()?.to_string()))),
        }
    }
}
