//! `enqueue`: one call of a task by name, held against the task before it is stored, where the program has it.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::failure::{Done, Failure};
use crate::cli::filter::duration;
use crate::cli::output::note;
use crate::cli::session::{Session, unknown};
use crate::client::EnqueueError;
use crate::registry::{Registration, Registry};
use crate::types::{Deferral, Idempotency, NewTask, Policy, Priority, QueueName, TaskId, Timestamp, Unique};

/// A call of a task; options that are not given are the task's own.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CallArgs {
    /// The task, as `tasks` lists it
    pub(in crate::cli) task: String,

    /// Its arguments, a JSON object by name
    #[arg(value_name = "JSON", default_value = "{}")]
    payload: String,

    /// What else was written: arguments that are no JSON object.
    #[arg(hide = true, value_name = "STRAY")]
    stray: Vec<String>,

    /// Send it to this queue [default: the task's]
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,

    /// From 0 (last) to 9 (first) [default: the task's]
    #[arg(long, value_name = "0..9")]
    priority: Option<u8>,

    /// Executions before it fails for good [default: the task's]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,
}

/// What to enqueue.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Enqueue {
    #[command(flatten)]
    pub(in crate::cli) call: CallArgs,

    /// Let it become ready later, such as 10m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    delay: Option<Duration>,

    /// Or at an instant, such as 2026-05-01T08:00:00Z; at once when that is past
    #[arg(long, value_name = "TIME", value_parser = instant, conflicts_with = "delay")]
    at: Option<Timestamp>,

    /// Let it expire when it has not started by then, such as 1h [default: the task's]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    ttl: Option<Duration>,

    /// Submit it under this idempotency key of its queue: a repetition is the same task [default: the task's]
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,

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
        let task = self.call.new_task(session).await?;
        let id = self.id(task.id.clone())?;
        let policy = Policy { ttl: self.ttl.or(task.policy.ttl), ..task.policy };
        let task = NewTask { id, deferral: self.deferral(), policy, ..task };
        let (key, unique) = self.call.keys(session)?;
        let task = NewTask { unique, ..task };
        let task = match self.idempotency_key.as_deref().map(Idempotency::from).or(key) {
            Some(key) => task.idempotent(key),
            None => task,
        };
        let handles = session.client.enqueue_raw(vec![task]).await.map_err(|error| match error {
            EnqueueError::Store { .. }
            | EnqueueError::InProgress { .. }
            | EnqueueError::Unique { .. }
            | EnqueueError::QueueFull { .. } => Failure::work(error),
            // Refused before it was sent.
            error => Failure::usage(error),
        })?;
        for handle in handles {
            let id = handle.id();
            match self.json {
                true => session.out.json(&json!({
                    "id": id, "task": self.call.task, "queue": id.queue().as_str(), "created": !handle.is_duplicate()
                }))?,
                false => session.out.line(&id.to_string())?,
            }
            if handle.is_duplicate() && !self.json {
                note("no new task was made: this one was there already");
            }
        }
        Ok(())
    }

    fn deferral(&self) -> Deferral {
        let at = self.at.map_or(Deferral::None, Deferral::At);
        self.delay.map_or(at, Deferral::After)
    }

    /// The id, which says the queue. A call with an id of its own goes to the queue of the id.
    fn id(&self, fresh: TaskId) -> Done<TaskId> {
        match &self.id {
            None => Ok(fresh),
            Some(id) if self.call.queue.is_none() || id.queue() == fresh.queue() => Ok(id.clone()),
            Some(id) => Err(Failure::usage(format!("the id {id} is not of the queue {:?}", fresh.queue().to_string()))),
        }
    }
}

/// An instant as people write it, in UTC.
fn instant(text: &str) -> Result<Timestamp, String> {
    humantime::parse_rfc3339_weak(text)
        .map(Timestamp::from)
        .map_err(|_| "write a time in UTC, such as 2026-05-01T08:00:00Z".to_owned())
}

impl CallArgs {
    /// The task to be made, with a fresh id.
    pub(super) async fn new_task(&self, session: &Session) -> Done<NewTask> {
        match &session.registry {
            Some(registry) => {
                let task = self.registration(registry)?;
                self.one_object(&task.example())?;
                self.checked(task)
            }
            None => {
                self.one_object(r#"{"order": 17}"#)?;
                self.unchecked(session).await
            }
        }
    }

    /// Refuses arguments that stand side by side, as a shell's own do.
    fn one_object(&self, example: &str) -> Done {
        match self.stray.is_empty() {
            true => Ok(()),
            false => Err(self.refused(format!("its arguments are one JSON object, in quotes: '{example}'"))),
        }
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
        self.make(def.queue, def.priority, def.policy())
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
        self.make(QueueName::DEFAULT, Priority::default().level(), Policy::DEFAULT)
    }

    /// The task's own keys for these arguments, where the program has the task.
    fn keys(&self, session: &Session) -> Done<(Option<Idempotency>, Option<Unique>)> {
        match session.registry.as_ref().and_then(|registry| registry.get(&self.task)) {
            Some(task) => (task.keys)(self.payload.as_bytes()).map_err(|error| self.refused(error)),
            None => Ok((None, None)),
        }
    }

    fn refused(&self, error: impl ToString) -> Failure {
        Failure::usage(format!("task {:?}: {}", self.task, error.to_string()))
    }

    fn make(&self, queue: &str, priority: u8, policy: Policy) -> Done<NewTask> {
        let queue = QueueName::new(self.queue.as_deref().unwrap_or(queue)).map_err(Failure::usage)?;
        Ok(NewTask {
            priority: Priority::new(self.priority.unwrap_or(priority)).map_err(|error| self.refused(error))?,
            policy: Policy { max_attempts: self.max_attempts.unwrap_or(policy.max_attempts), ..policy },
            ..NewTask::new(TaskId::generate(queue), self.task.as_str(), self.payload.as_bytes().to_vec())
        })
    }
}
