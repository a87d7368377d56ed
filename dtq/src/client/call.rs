//! Calls as values: options chained on them, awaiting them sends them.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use super::{Client, EnqueueError, Handle};
use crate::task::Task;
use crate::types::{Deferral, NewTask, Policy, Priority, QueueName, TaskId, Timestamp, Uuid};

/// The future of a call that is being sent.
pub type Sending<T> = Pin<Box<dyn Future<Output = Result<T, EnqueueError>> + Send>>;

/// What a call overrides of its task's options.
#[derive(Debug, Clone)]
struct Options {
    queue: Option<String>,
    priority: u8,
    policy: Policy,
    deferral: Deferral,
    client: Option<Client>,
}

impl Options {
    fn of<T: Task>() -> Self {
        Self { queue: None, priority: T::DEF.priority, policy: T::DEF.policy(), deferral: Deferral::None, client: None }
    }

    fn new_task<T: Task>(&self, args: &T, uuid: Uuid, of: Option<&QueueName>) -> Result<NewTask, EnqueueError> {
        let task = || T::DEF.name.to_owned();
        let queue = QueueName::new(self.queue.as_deref().unwrap_or(T::DEF.queue))?;
        if let Some(other) = of.filter(|of| **of != queue) {
            let id = TaskId::new(other.clone(), uuid);
            return Err(EnqueueError::OtherQueue { task: task(), id, queue: queue.to_string() });
        }
        let id = TaskId::new(queue, uuid);
        let priority = Priority::new(self.priority).map_err(|_| EnqueueError::Invalid {
            task: task(),
            option: "priority",
            rule: "priorities go from 0 (last) to 9 (first)",
        })?;
        let payload = args.to_payload().map_err(|detail| EnqueueError::Unencodable { task: task(), detail })?;
        Ok(NewTask { id, task: task(), payload, priority, deferral: self.deferral, policy: self.policy.clone() })
    }

    fn client(&self) -> Result<Client, EnqueueError> {
        match &self.client {
            Some(client) => Ok(client.clone()),
            None => Client::current().map_err(|cause| EnqueueError::Store { id: None, cause }),
        }
    }
}

macro_rules! option_methods {
    () => {
        /// Sends it to another queue than the task's own.
        pub fn queue(mut self, name: impl Into<String>) -> Self {
            self.options.queue = Some(name.into());
            self
        }

        /// From 0 (last) to 9 (first).
        pub fn priority(mut self, level: u8) -> Self {
            self.options.priority = level;
            self
        }

        /// Becomes ready this long after the store accepted it.
        pub fn delay(mut self, delay: Duration) -> Self {
            self.options.deferral = Deferral::After(delay);
            self
        }

        /// Becomes ready at an instant of the store's clock; one in the past means at once.
        pub fn at(mut self, instant: impl Into<Timestamp>) -> Self {
            self.options.deferral = Deferral::At(instant.into());
            self
        }

        /// Executions before it fails for good; at least 1.
        pub fn max_attempts(mut self, attempts: u32) -> Self {
            self.options.policy.max_attempts = attempts;
            self
        }

        /// Longest run of one attempt.
        pub fn timeout(mut self, timeout: Duration) -> Self {
            self.options.policy.timeout = Some(timeout);
            self
        }

        /// How long its record and result are kept once it is finished; zero keeps nothing.
        pub fn retention(mut self, retention: Duration) -> Self {
            self.options.policy.retention = retention;
            self
        }

        /// It expires when it was not started this long after it was enqueued.
        pub fn ttl(mut self, ttl: Duration) -> Self {
            self.options.policy.ttl = Some(ttl);
            self
        }

        /// Whether it is kept among the dead letters when it failed for good.
        pub fn dead_letter(mut self, keep: bool) -> Self {
            self.options.policy.dead_letter = keep;
            self
        }

        /// Sends it through this client instead of the current one.
        pub fn on(mut self, client: &Client) -> Self {
            self.options.client = Some(client.clone());
            self
        }
    };
}

/// One call of a task, not sent yet. Awaiting it sends it and gives a [`Handle`].
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<T: Task> {
    args: T,
    uuid: Uuid,
    /// The queue of an id that the caller chose.
    id_queue: Option<QueueName>,
    options: Options,
}

impl<T: Task> Call<T> {
    /// A call with these arguments and the task's own options.
    pub fn new(args: T) -> Self {
        Self { args, uuid: Uuid::now_v7(), id_queue: None, options: Options::of::<T>() }
    }

    option_methods!();

    /// Gives it an id of your choice: the same id sent twice is one task. Its queue must be the call's.
    pub fn id(mut self, id: TaskId) -> Self {
        self.uuid = id.uuid();
        self.id_queue = Some(id.queue().clone());
        self
    }

    /// The arguments.
    pub fn args(&self) -> &T {
        &self.args
    }

    /// Sends it, like awaiting it does, and keeps it: after an error it can be sent again, and has the same id then, so
    /// that it makes no second task.
    ///
    /// # Errors
    /// See [`EnqueueError`].
    // Encodes at once, so that the arguments need not live (or be `Sync`) while the call is on its way.
    pub fn send(&self) -> impl Future<Output = Result<Handle<T::Output>, EnqueueError>> + Send + use<T> {
        let ready = self
            .options
            .new_task(&self.args, self.uuid, self.id_queue.as_ref())
            .and_then(|task| Ok((task, self.options.client()?)));
        async move {
            let (task, client) = ready?;
            let mut accepted = client.submit(vec![task]).await?;
            let answer = accepted.pop().ok_or_else(missing_answer)?;
            Ok(Handle::new(client, answer))
        }
    }
}

impl<T: Task> IntoFuture for Call<T> {
    type Output = Result<Handle<T::Output>, EnqueueError>;
    type IntoFuture = Sending<Handle<T::Output>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T: Task> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("task", &T::DEF.name).field("id", &self.uuid).finish_non_exhaustive()
    }
}

/// Many calls of one task with the same options, not sent yet. Awaiting it sends them in batches, one round trip each,
/// and gives their handles in order. When a batch fails, the ones before it are accepted: keep the value and use
/// [`CallMany::send`] to be able to send it again.
#[must_use = "calls do nothing until they are awaited"]
pub struct CallMany<T: Task> {
    calls: Vec<(Uuid, T)>,
    options: Options,
}

impl<T: Task> CallMany<T> {
    /// Calls with the arguments that `make` takes from each item.
    pub fn new<I: IntoIterator>(items: I, make: impl Fn(I::Item) -> T) -> Self {
        Self {
            calls: items.into_iter().map(|item| (Uuid::now_v7(), make(item))).collect(),
            options: Options::of::<T>(),
        }
    }

    option_methods!();

    /// Sends them, like awaiting does, and keeps them: after an error they can be sent again, and have the same ids then, so
    /// that none becomes a second task.
    ///
    /// # Errors
    /// See [`EnqueueError`].
    pub fn send(&self) -> impl Future<Output = Result<Vec<Handle<T::Output>>, EnqueueError>> + Send + use<T> {
        let tasks: Result<Vec<_>, _> =
            self.calls.iter().map(|(uuid, args)| self.options.new_task(args, *uuid, None)).collect();
        let ready = tasks.and_then(|tasks| Ok((tasks, self.options.client()?)));
        async move {
            let (tasks, client) = ready?;
            let accepted = client.submit(tasks).await?;
            Ok(accepted.into_iter().map(|answer| Handle::new(client.clone(), answer)).collect())
        }
    }
}

impl<T: Task> IntoFuture for CallMany<T> {
    type Output = Result<Vec<Handle<T::Output>>, EnqueueError>;
    type IntoFuture = Sending<Vec<Handle<T::Output>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T: Task> fmt::Debug for CallMany<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallMany").field("task", &T::DEF.name).field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

/// A store that breaks its contract: an answer is missing.
fn missing_answer() -> EnqueueError {
    let detail = "the store gave no answer for a task".into();
    let cause = crate::store::StoreError::Corrupt { operation: "enqueue", store: "-".into(), detail };
    EnqueueError::Store { id: None, cause }
}
