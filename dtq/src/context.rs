//! What a handler may ask about the attempt it runs in.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::error::{IntoTaskError, Marked, TaskError};
use crate::notes::{Notebook, Notes, Written};
use crate::once::{Doing, OnceKeeper, Remembered};
use crate::shared_state::States;
use crate::store::Store;
use crate::types::{Delivery, Lease, QueueName, TaskId, Timestamp};

/// The attempt a handler runs in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    lease: Lease,
    max_attempts: u32,
    enqueued_at: Timestamp,
    timeout: Option<Duration>,
    /// When the function began: a plain one may have waited for a thread before.
    begun: OnceLock<Instant>,
    begins: Notify,
    cancellation: CancellationToken,
    states: Arc<States>,
    once: OnceKeeper,
    notes: Notes,
    /// When the time to live ends.
    expires: Option<Instant>,
}

impl Context {
    pub(crate) fn of(
        delivery: &Delivery,
        cancellation: CancellationToken,
        states: Arc<States>,
        store: Arc<dyn Store>,
        notebook: Arc<Notebook>,
        checkpoint: Option<Bytes>,
    ) -> Self {
        // Both instants are the store's, so this machine's clock does not matter.
        let lives = |ttl| delivery.enqueued_at.plus(ttl).since(delivery.claimed_at);
        let inner = Inner {
            lease: delivery.lease.clone(),
            max_attempts: delivery.policy.max_attempts,
            enqueued_at: delivery.enqueued_at,
            timeout: delivery.policy.timeout,
            begun: OnceLock::new(),
            begins: Notify::new(),
            cancellation,
            states,
            once: OnceKeeper::shared(store),
            notes: Notes::of(notebook, checkpoint),
            expires: delivery.policy.ttl.and_then(|ttl| Instant::now().checked_add(lives(ttl))),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A context that belongs to no worker, for calling a task's function by hand, as unit tests do: first attempt of
    /// one, no deadline, never cancelled; what [`Context::once`] did is remembered in the context itself.
    pub fn detached() -> Self {
        let inner = Inner {
            lease: Lease { task: TaskId::generate(QueueName::default()), attempt: 1, token: String::new() },
            max_attempts: 1,
            enqueued_at: Timestamp::default(),
            timeout: None,
            begun: OnceLock::new(),
            begins: Notify::new(),
            cancellation: CancellationToken::new(),
            states: Arc::default(),
            once: OnceKeeper::own(),
            notes: Notes::detached(),
            expires: None,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The task's id.
    pub fn task_id(&self) -> &TaskId {
        &self.inner.lease.task
    }

    /// Which execution this is; the first is 1. It rises with every retry and when a lost worker's task is taken over.
    pub fn attempt(&self) -> u32 {
        self.inner.lease.attempt
    }

    /// Executions before the task fails for good.
    pub fn max_attempts(&self) -> u32 {
        self.inner.max_attempts
    }

    /// True when an error now would be final.
    pub fn is_last_attempt(&self) -> bool {
        self.inner.lease.attempt >= self.inner.max_attempts
    }

    /// When the store accepted the task.
    pub fn enqueued_at(&self) -> Timestamp {
        self.inner.enqueued_at
    }

    /// Time left until the attempt's timeout; `None` when it has none.
    pub fn time_left(&self) -> Option<Duration> {
        let spent = self.inner.begun.get().map(Instant::elapsed).unwrap_or_default();
        self.inner.timeout.map(|timeout| timeout.saturating_sub(spent))
    }

    /// When this attempt's budget ends: with its timeout or with the task's time to live, whichever comes first; `None` when
    /// the task has neither. The time to live bounds the start only, so an attempt may go on past it; what it would still
    /// hand on is late then.
    pub fn deadline(&self) -> Option<Instant> {
        let timeout = self.time_left().and_then(|left| Instant::now().checked_add(left));
        timeout.into_iter().chain(self.inner.expires).min()
    }

    /// Time left until [`Context::deadline`]; zero once it is over. [`Call::within`](crate::Call::within) hands it on to a
    /// task that is enqueued from here.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Tells how far the work is (0.0 to 1.0) and what it is at, for [`Record::progress`](crate::types::Record). Cheap
    /// enough for a hot loop: the worker writes the last value four times a second at most, and always before the attempt
    /// ends. Of a message 256 bytes are kept.
    pub fn progress(&self, fraction: f64, message: impl Into<String>) {
        self.inner.notes.progress(&self.inner.lease, fraction, message.into());
    }

    /// Writes a line to the task's own log, for [`Record::log`](crate::types::Record). It is sent as
    /// [`Context::progress`] is. The latest 100 lines of a task are kept, and 512 bytes of each.
    pub fn log(&self, line: impl Into<String>) {
        self.inner.notes.log(&self.inner.lease, line.into());
    }

    /// Saves the state of the work, so that the next attempt can go on from there: after a retry, or on another worker when
    /// this one is lost. Each takes the place of the one before. It is sent as [`Context::progress`] is; see
    /// [`Context::saved`] for when it must be in the store before the work goes on.
    ///
    /// ```
    /// use dtq::prelude::*;
    /// # async fn import(row: u64) -> Result<(), std::io::Error> { Ok(()) }
    ///
    /// #[dtq::task]
    /// async fn import_all(ctx: &Context, rows: u64) -> Result<(), TaskError> {
    ///     let begin: u64 = ctx.last_checkpoint()?.unwrap_or(0);
    ///     for row in begin..rows {
    ///         import(row).await?;
    ///         ctx.checkpoint(&(row + 1))?;
    ///         ctx.progress(row as f64 / rows as f64, "importing");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// When the state cannot be encoded, or takes more than 64 KiB. No retry can mend that.
    pub fn checkpoint<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Marked> {
        self.inner.notes.checkpoint(&self.inner.lease, state)
    }

    /// The task's last checkpoint, of whichever attempt; `None` when there is none.
    ///
    /// # Errors
    /// When it is not of this type, as after a deployment that changed it. No retry can mend that, so the task fails at once
    /// if the error is returned; `ctx.last_checkpoint().unwrap_or_default()` begins anew instead.
    pub fn last_checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, Marked> {
        self.inner.notes.last_checkpoint()
    }

    /// Waits until all that was told so far (progress, lines, checkpoints) is in the store.
    ///
    /// # Errors
    /// When this attempt lost its lease, or the store refuses what was told.
    pub async fn saved(&self) -> Result<(), Marked> {
        match self.inner.notes.written().await {
            Written::Kept => Ok(()),
            Written::Lost => Err(TaskError::new("this attempt lost its lease; nothing of it is kept any more").into()),
            Written::Refused(why) => Err(TaskError::new(why).into()),
        }
    }

    /// Waits until nothing that was told is on its way any more.
    pub(crate) async fn notes_written(&self) {
        self.inner.notes.written().await;
    }

    /// Fires when the task is called off, when the attempt ran longer than its timeout, when this worker lost its lease,
    /// or when shutdown will not wait any longer.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.inner.cancellation
    }

    /// True once [`Context::cancellation`] has fired.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancellation.is_cancelled()
    }

    /// Does work whose effects must not repeat: at most one run per key is completed while its result is remembered,
    /// whatever number of attempts and tasks of the same queue ask for it. The others get its result.
    ///
    /// The result is remembered for `ttl` from its end. A run that fails is forgotten, and the next attempt begins anew.
    /// While one attempt is at it, others wait; when it loses its lease (its worker died), one of them begins anew.
    /// Waiting ends with the attempt's timeout at the latest; work that asks for its own key, or two attempts that ask for two
    /// keys in opposite order, wait until then.
    ///
    /// So the one thing that can repeat is a run that was cut off before its end could be noted: let the other side
    /// recognise that by the same key, where it can.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dtq::prelude::*;
    /// # async fn pay(order: u64, cents: u64) -> Result<String, std::io::Error> { Ok(format!("{order}-{cents}")) }
    /// # async fn mail(receipt: &str) -> Result<(), std::io::Error> { Ok(()) }
    ///
    /// #[dtq::task]
    /// async fn charge(ctx: &Context, order: u64, cents: u64) -> Result<(), TaskError> {
    ///     const MONTH: Duration = Duration::from_secs(30 * 86_400);
    ///     let receipt = ctx.once(format!("charge-{order}"), MONTH, || pay(order, cents)).await?;
    ///     mail(&receipt).await?; // when this fails, the next attempt does not pay again
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// What the work returned, with its directive. Also when the key is empty or longer than 512 bytes, the result cannot
    /// be encoded, the remembered one is of another type, or this attempt lost its lease.
    // Not an `async fn`: what does not fit would be told of at the call, at its future and at the `.await`.
    pub fn once<'a, T, E, M, F>(
        &'a self,
        key: impl Into<String>,
        ttl: Duration,
        work: impl FnOnce() -> F + Send + 'a,
    ) -> Doing<'a, T>
    where
        T: Remembered + Send + 'a,
        E: IntoTaskError<M> + 'a,
        M: 'a,
        F: Future<Output = Result<T, E>> + Send + 'a,
    {
        Box::pin(self.inner.once.once(&self.inner.lease, key.into(), ttl, work))
    }

    /// Notes that the function begins now.
    pub(crate) fn begin(&self) {
        self.inner.begun.get_or_init(Instant::now);
        self.inner.begins.notify_one();
    }

    /// Resolves when the attempt has run longer than its timeout; never when it has none.
    pub(crate) async fn timed_out(&self) {
        let Some(timeout) = self.inner.timeout else { return std::future::pending().await };
        while self.inner.begun.get().is_none() {
            self.inner.begins.notified().await;
        }
        tokio::time::sleep(timeout).await;
    }

    pub(crate) fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.inner.states.get()
    }
}
