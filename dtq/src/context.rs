//! What a handler may ask about the attempt it runs in.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::error::IntoTaskError;
use crate::once::{Doing, OnceKeeper, Remembered};
use crate::shared_state::States;
use crate::store::Store;
use crate::types::{Delivery, QueueName, TaskId, Timestamp};

/// The attempt a handler runs in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: TaskId,
    attempt: u32,
    max_attempts: u32,
    enqueued_at: Timestamp,
    timeout: Option<Duration>,
    /// When the function began: a plain one may have waited for a thread before.
    begun: OnceLock<Instant>,
    begins: Notify,
    cancellation: CancellationToken,
    states: Arc<States>,
    once: OnceKeeper,
}

impl Context {
    pub(crate) fn of(
        delivery: &Delivery,
        cancellation: CancellationToken,
        states: Arc<States>,
        store: Arc<dyn Store>,
    ) -> Self {
        let inner = Inner {
            id: delivery.lease.task.clone(),
            attempt: delivery.lease.attempt,
            max_attempts: delivery.policy.max_attempts,
            enqueued_at: delivery.enqueued_at,
            timeout: delivery.policy.timeout,
            begun: OnceLock::new(),
            begins: Notify::new(),
            cancellation,
            states,
            once: OnceKeeper::shared(store, delivery.lease.clone()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A context that belongs to no worker, for calling a task's function by hand, as unit tests do: first attempt of
    /// one, no deadline, never cancelled; what [`Context::once`] did is remembered in the context itself.
    pub fn detached() -> Self {
        let inner = Inner {
            id: TaskId::generate(QueueName::default()),
            attempt: 1,
            max_attempts: 1,
            enqueued_at: Timestamp::default(),
            timeout: None,
            begun: OnceLock::new(),
            begins: Notify::new(),
            cancellation: CancellationToken::new(),
            states: Arc::default(),
            once: OnceKeeper::own(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The task's id.
    pub fn task_id(&self) -> &TaskId {
        &self.inner.id
    }

    /// Which execution this is; the first is 1. It rises with every retry and when a lost worker's task is taken over.
    pub fn attempt(&self) -> u32 {
        self.inner.attempt
    }

    /// Executions before the task fails for good.
    pub fn max_attempts(&self) -> u32 {
        self.inner.max_attempts
    }

    /// True when an error now would be final.
    pub fn is_last_attempt(&self) -> bool {
        self.inner.attempt >= self.inner.max_attempts
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
        Box::pin(self.inner.once.once(key.into(), ttl, work))
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
