//! Calls as values: options chained on them, awaiting them sends them.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::payloads::Payloads;
use super::{Client, EnqueueError, Handle};
use crate::context::Context;
use crate::store::BATCH;
use crate::task::Task;
use crate::types::{
    Deferral, Idempotency, NewTask, Policy, Priority, QueueName, TaskId, Timestamp, Unique, Uuid, uuid_alone,
    uuids_in_rows,
};

/// The future of a call that is being sent.
pub type Sending<T> = Pin<Box<dyn Future<Output = Result<T, EnqueueError>> + Send>>;

/// Calls whose ids stand in one row: those of one step of a store.
const ROW: u8 = {
    assert!(BATCH <= 255);
    BATCH as u8
};

/// The answers to many calls, in their order.
pub type Answers<T> = Vec<Result<Handle<<T as Task>::Output>, EnqueueError>>;

/// What a call overrides of its task's options.
#[derive(Debug, Clone)]
struct Options {
    queue: Option<String>,
    priority: u8,
    policy: Policy,
    deferral: Deferral,
    idempotency: Option<Idempotency>,
    unique: Option<Unique>,
    client: Option<Client>,
    /// When the budget that was handed on ends.
    deadline: Option<Instant>,
}

impl Options {
    fn of<T: Task>() -> Self {
        let (priority, policy) = (T::DEF.priority, T::DEF.policy());
        let (queue, deferral, idempotency, unique, client, deadline) = Default::default();
        Self { queue, priority, policy, deferral, idempotency, unique, client, deadline }
    }

    fn new_task<T: Task>(&self, args: &T, uuid: Uuid, of: Option<&QueueName>) -> Result<NewTask, EnqueueError> {
        let blank = self.blank::<T>(uuid)?;
        let queue = blank.id.queue();
        if let Some(other) = of.filter(|of| *of != queue) {
            let id = TaskId::new(other.clone(), uuid);
            return Err(EnqueueError::OtherQueue { task: blank.task, id, queue: queue.to_string() });
        }
        let payload = args.to_payload().map_err(unencodable::<T>)?;
        Ok(self.with_keys(NewTask { payload, ..blank }, args))
    }

    /// The tasks of many calls. What they have in common is made once, and their arguments share buffers.
    fn new_tasks<T: Task>(&self, calls: &[(Uuid, T)]) -> Result<Vec<NewTask>, EnqueueError> {
        let Some((first, _)) = calls.first() else { return Ok(Vec::new()) };
        let blank = self.blank::<T>(*first)?;
        let (mut tasks, mut payloads) = (Vec::with_capacity(calls.len()), Payloads::default());
        for (uuid, args) in calls {
            payloads.add(args).map_err(unencodable::<T>)?;
            let id = TaskId::new(blank.id.queue().clone(), *uuid);
            tasks.push(self.with_keys(NewTask { id, ..blank.clone() }, args));
            if payloads.fill_a_buffer() {
                payloads.hand_out(&mut tasks);
            }
        }
        payloads.hand_out(&mut tasks);
        Ok(tasks)
    }

    /// All of a task but its arguments and the keys that are made of them.
    fn blank<T: Task>(&self, uuid: Uuid) -> Result<NewTask, EnqueueError> {
        let task = || T::DEF.name.to_owned();
        let id = TaskId::new(QueueName::new(self.queue.as_deref().unwrap_or(T::DEF.queue))?, uuid);
        let priority = Priority::new(self.priority).map_err(|_| EnqueueError::Invalid {
            task: task(),
            option: "priority",
            rule: "priorities go from 0 (last) to 9 (first)",
        })?;
        let policy = Policy { ttl: self.ttl::<T>()?, ..self.policy.clone() };
        Ok(NewTask { priority, deferral: self.deferral, policy, ..NewTask::new(id, task(), Bytes::new()) })
    }

    fn with_keys<T: Task>(&self, mut task: NewTask, args: &T) -> NewTask {
        task.unique = self.unique.clone().or_else(|| args.unique());
        match self.idempotency.clone().or_else(|| args.idempotency()) {
            Some(key) => task.idempotent(key),
            None => task,
        }
    }

    /// The shorter one of its own time to live and what is left of a budget that was handed on.
    fn ttl<T: Task>(&self) -> Result<Option<Duration>, EnqueueError> {
        let Some(deadline) = self.deadline else { return Ok(self.policy.ttl) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(EnqueueError::NoTimeLeft { task: T::DEF.name.to_owned() });
        }
        Ok(Some(self.policy.ttl.map_or(left, |ttl| ttl.min(left))))
    }

    fn client(&self) -> Result<Client, EnqueueError> {
        match &self.client {
            Some(client) => Ok(client.clone()),
            None => Client::current().map_err(|cause| EnqueueError::Store { id: None, tasks: 1, cause }),
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

        /// It expires when it was not started by the time at which the budget of this attempt ends, see
        /// [`Context::deadline`]. Without a budget nothing changes. When nothing is left of it, the call fails with
        /// [`EnqueueError::NoTimeLeft`] and nothing is sent.
        pub fn within(mut self, ctx: &Context) -> Self {
            self.options.deadline = self.options.deadline.into_iter().chain(ctx.deadline()).min();
            self
        }

        /// Whether it is kept among the dead letters when it failed for good.
        pub fn dead_letter(mut self, keep: bool) -> Self {
            self.options.policy.dead_letter = keep;
            self
        }

        /// Submits it under an idempotency key of its queue: any text, or an [`Idempotency`] that says how long the key is
        /// remembered. While the key's task is not finished the call fails with [`EnqueueError::InProgress`]; after that
        /// it gives a handle to that task. Takes the place of the task's own `idempotency_key`.
        pub fn idempotency_key(mut self, key: impl Into<Idempotency>) -> Self {
            self.options.idempotency = Some(key.into());
            self
        }

        /// Lets there be one such task at a time, by a key: any text, or a [`Unique`] that says until when, and what to do on
        /// a conflict. Takes the place of the task's own `unique`.
        pub fn unique(mut self, key: impl Into<Unique>) -> Self {
            self.options.unique = Some(key.into());
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
        Self { args, uuid: uuid_alone(), id_queue: None, options: Options::of::<T>() }
    }

    option_methods!();

    /// Gives it an id of your choice: the same id sent twice is one task. Its queue must be the call's.
    pub fn id(mut self, id: TaskId) -> Self {
        self.uuid = id.uuid();
        self.id_queue = Some(id.queue().clone());
        self
    }

    /// The task that it would send.
    pub(super) fn new_task(&self) -> Result<NewTask, EnqueueError> {
        self.options.new_task(&self.args, self.uuid, self.id_queue.as_ref())
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
        let ready = self.new_task().and_then(|task| Ok((task, self.options.client()?)));
        async move {
            let (task, client) = ready?;
            let mut accepted = client.submit(vec![task]).await?;
            let answer = accepted.pop().ok_or_else(missing_answer)??;
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
            calls: uuids_in_rows(ROW).zip(items).map(|(uuid, item)| (uuid, make(item))).collect(),
            options: Options::of::<T>(),
        }
    }

    option_methods!();

    /// Sends them, like awaiting does, and keeps them: after an error they can be sent again, and have the same ids then, so
    /// that none becomes a second task.
    ///
    /// # Errors
    /// See [`EnqueueError`]. When some are refused because of their keys or a full queue, the others are accepted: [`CallMany::send_each`]
    /// tells which.
    pub fn send(&self) -> impl Future<Output = Result<Vec<Handle<T::Output>>, EnqueueError>> + Send + use<T> {
        let sending = self.send_each();
        async move { sending.await?.into_iter().collect() }
    }

    /// The same with an answer for each call: one that is refused, because of a key of its own or because its queue is full,
    /// says nothing of the others.
    ///
    /// # Errors
    /// See [`EnqueueError`]: a limit is passed (then nothing is sent), or the store fails.
    pub fn send_each(&self) -> impl Future<Output = Result<Answers<T>, EnqueueError>> + Send + use<T> {
        let tasks = self.options.new_tasks(&self.calls);
        let ready = tasks.and_then(|tasks| Ok((tasks, self.options.client()?)));
        async move {
            let (tasks, client) = ready?;
            let accepted = client.submit(tasks).await?;
            Ok(accepted.into_iter().map(|answer| Ok(Handle::new(client.clone(), answer?))).collect())
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

fn unencodable<T: Task>(detail: String) -> EnqueueError {
    EnqueueError::Unencodable { task: T::DEF.name.to_owned(), detail }
}

/// A store that breaks its contract: an answer is missing.
fn missing_answer() -> EnqueueError {
    let detail = "the store gave no answer for a task".into();
    let cause = crate::store::StoreError::Corrupt { operation: "enqueue", store: "-".into(), detail };
    EnqueueError::Store { id: None, tasks: 1, cause }
}
