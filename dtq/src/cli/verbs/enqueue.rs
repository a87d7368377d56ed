//! `enqueue`: one call of a task by name, held against the task before it is stored, where the program has it.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::failure::{Done, Failure};
use crate::cli::output::note;
use crate::cli::session::{Session, unknown};
use crate::client::EnqueueError;
use crate::registry::{Registration, Registry};
use crate::types::{Deferral, NewTask, Policy, Priority, QueueName, TaskId};

/// What to enqueue; options that are not given are the task's own.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Enqueue {
    /// The task, as `tasks` lists it
    pub(in crate::cli) task: String,

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
    /// Sends it, and prints the id.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let task = match &session.registry {
            Some(registry) => self.checked(self.registration(registry)?)?,
            None => self.unchecked(session).await?,
        };
        let handles = session.client.enqueue_raw(vec![task]).await.map_err(|error| match error {
            EnqueueError::Store { .. } => Failure::work(error),
            // Refused before it was sent.
            error => Failure::usage(error),
        })?;
        for handle in handles {
            let id = handle.id();
            match self.json {
                true => session.out.json(
                    &json!({ "id": id, "task": self.task, "queue": id.queue().as_str(), "created": !handle.is_duplicate() }),
                )?,
                false => session.out.line(&id.to_string())?,
            }
        }
        Ok(())
    }

    fn registration<'a>(&self, registry: &'a Registry) -> Done<&'a Registration> {
        registry.get(&self.task).ok_or_else(|| {
            let known: Vec<_> = registry.iter().map(|task| task.def.name).collect();
            unknown("task", &self.task, &known, "The command `tasks` lists them")
        })
    }

    /// A call of a task that this program has, held against it.
    fn checked(&self, task: &Registration) -> Done<NewTask> {
        task.check_payload(self.payload.as_bytes()).map_err(|error| self.refused(error))?;
        let def = &task.def;
        self.new_task(def.queue, def.priority, def.policy())
    }

    /// A call of a task that some other program has: what can be checked is that its arguments are a JSON object.
    async fn unchecked(&self, session: &Session) -> Done<NewTask> {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&self.payload).map_err(|error| {
            self.refused(format!("its arguments are not a JSON object such as {{\"order\": 17}}: {error}"))
        })?;
        let workers = session.client.workers().await?;
        let known: Vec<_> = workers.iter().flat_map(|worker| &worker.tasks).map(String::as_str).collect();
        let told = !known.is_empty() && !known.contains(&self.task.as_str());
        let meant = crate::suggest::nearest(&self.task, &known).filter(|_| told);
        let meant = meant.map(|name| format!(" Did you mean {name:?}?")).unwrap_or_default();
        let doubt = if told { format!(" No live worker knows a task of this name.{meant}") } else { String::new() };
        note(&format!(
            "{}: sent by name, with default options: {} does not have this task and cannot check its arguments.{doubt}",
            self.task, session.program
        ));
        self.new_task(QueueName::DEFAULT, Priority::default().level(), Policy::DEFAULT)
    }

    fn refused(&self, error: impl ToString) -> Failure {
        Failure::usage(format!("task {:?}: {}", self.task, error.to_string()))
    }

    fn new_task(&self, queue: &str, priority: u8, policy: Policy) -> Done<NewTask> {
        Ok(NewTask {
            id: self.id(queue)?,
            task: self.task.clone(),
            payload: self.payload.as_bytes().to_vec().into(),
            priority: Priority::new(self.priority.unwrap_or(priority)).map_err(|error| self.refused(error))?,
            deferral: self.delay.map_or(Deferral::None, Deferral::After),
            policy: Policy { max_attempts: self.max_attempts.unwrap_or(policy.max_attempts), ..policy },
        })
    }

    /// The id, which says the queue. A call with an id of its own goes to the queue of the id.
    fn id(&self, queue: &str) -> Done<TaskId> {
        let queue = || QueueName::new(self.queue.as_deref().unwrap_or(queue)).map_err(Failure::usage);
        match &self.id {
            None => Ok(TaskId::generate(queue()?)),
            Some(id) if self.queue.is_none() || *id.queue() == queue()? => Ok(id.clone()),
            Some(id) => Err(Failure::usage(format!("the id {id} is not of the queue {:?}", queue()?.to_string()))),
        }
    }
}
