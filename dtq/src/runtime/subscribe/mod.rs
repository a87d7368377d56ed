//! Messages that dtq did not write, worked on beside tasks: one reading loop a subscriber, and the worker's own slots.

mod decide;
mod handle;
mod keep;
mod live;
mod order;
mod read;
mod settle;
mod stats;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::handle::Subscribed;
use self::keep::Keeper;
use self::read::Reader;
pub use self::stats::SubscriberStats;
use super::config::WorkerConfig;
use super::outage::Trouble;
use super::readiness::Heart;
use super::supervise::supervise;
use super::worker::WorkerError;
use crate::client::Client;
use crate::connect;
use crate::shared_state::States;
use crate::store::messages::{Broker, Subscription};
use crate::subscriber::{SubscriberError, Subscribers};
use crate::types::{DelayedRetry, WorkerId};

/// What subscribers share with the worker they run in.
#[derive(Clone)]
pub(super) struct Shared {
    /// The client that handlers enqueue through, unless they name another.
    pub(super) client: Client,
    pub(super) states: Arc<States>,
    /// One permit per handler that may run at once, of a task or of a message.
    pub(super) slots: Arc<Semaphore>,
    pub(super) tracker: TaskTracker,
    /// Fires when shutdown begins: nothing more is read, and what has not started is given back.
    pub(super) stopping: CancellationToken,
    /// Fires when shutdown waits no longer: what still runs is dropped and given back.
    pub(super) abort: CancellationToken,
    /// Fires at the very end: what could not be settled by then is left to its server.
    pub(super) leaving: CancellationToken,
    pub(super) trouble: Arc<Trouble>,
    /// Set when an end was thrown away.
    pub(super) unsettled: Arc<AtomicBool>,
    pub(super) cancel_grace: Duration,
    /// Messages that a subscriber holds at most, unless it says otherwise.
    pub(super) concurrency: usize,
    /// The longest wait of one read.
    pub(super) block: Duration,
}

/// The longest wait of one read: a shutdown waits for it, and a delayed copy may come this much late.
const LONGEST_BLOCK: Duration = Duration::from_secs(1);

/// The subscribers at work.
#[derive(Debug, Default)]
pub(super) struct Running {
    subscribed: Vec<Arc<Subscribed>>,
    kept: Option<oneshot::Receiver<()>>,
}

impl Running {
    /// Starts to read for every subscriber.
    pub(super) fn launch(
        subscribers: &Subscribers,
        broker: Option<&Arc<dyn Broker>>,
        worker: &WorkerId,
        mut shared: Shared,
        heart: &Heart,
    ) -> std::io::Result<Self> {
        let Some(broker) = broker.filter(|_| !subscribers.is_empty()) else { return Ok(Self::default()) };
        shared.block = shared.block.min(LONGEST_BLOCK);
        let mut subscribed = Vec::new();
        for (n, one) in subscribers.iter().enumerate() {
            let inbox = broker.open(Subscription {
                form: one.def.form,
                // Two subscribers of one group are two consumers: neither takes the other's messages for its own.
                worker: WorkerId::named(format!("{worker}.{n}")),
                delayed_retry: one.def.delayed_retry,
                dead_letter: one.def.dead_letter,
            });
            let one = Arc::new(Subscribed::new(*one, inbox, shared.clone()));
            tell(&one, broker.address());
            let reader = Reader::new(one.clone(), heart.another());
            let over = one.reading_over.clone();
            shared.tracker.spawn(async move {
                supervise("read messages", || reader.run()).await;
                over.cancel();
            });
            subscribed.push(one);
        }
        let kept = Keeper::of(&subscribed, &shared).start()?;
        Ok(Self { subscribed, kept: Some(kept) })
    }

    /// Waits until every server was taken leave of.
    pub(super) async fn left(&mut self) {
        if let Some(kept) = &mut self.kept {
            // An error is the thread's end, too.
            let _ = kept.await;
        }
    }

    pub(super) fn stats(&self) -> Vec<SubscriberStats> {
        self.subscribed.iter().map(|one| one.stats()).collect()
    }
}

/// The server whose messages the subscribers read; none when nobody subscribes.
pub(super) fn broker(
    client: &Client,
    subscribers: &Subscribers,
    config: &WorkerConfig,
) -> Result<Option<Arc<dyn Broker>>, WorkerError> {
    let Some(first) = subscribers.iter().next() else { return Ok(None) };
    if let Some(url) = &config.subscribe_url {
        return Ok(Some(connect::broker(&url.0)?));
    }
    let missing = || SubscriberError::NoServer {
        subscriber: first.def.name,
        form: first.def.form.to_string(),
        store: client.store().address().to_owned(),
    };
    Ok(Some(client.store().broker().ok_or_else(missing)?))
}

/// One line a subscriber, with what it must be known to risk.
fn tell(one: &Subscribed, server: &str) {
    let def = one.def();
    let (name, form) = (def.name, def.form);
    tracing::info!(subscriber = name, %form, server, dead_letter = def.dead_letter.unwrap_or("none: what is given up is dropped"),
        max_attempts = def.max_attempts, "subscribed");
    if matches!(form, crate::types::Form::Stream(stream) if stream.min_idle.is_none()) {
        tracing::warn!(subscriber = name, %form, "entries that a dead worker leaves pending stay so: set min_idle to have them taken over");
    }
    if def.delayed_retry == DelayedRetry::InProcess && form.acknowledges() {
        tracing::warn!(subscriber = name, %form, "delayed retries wait in this process: a crash loses them");
    }
    if !form.acknowledges() {
        tracing::info!(subscriber = name, %form, "its messages are gone from the server once they are read: a crash loses them");
    }
}
