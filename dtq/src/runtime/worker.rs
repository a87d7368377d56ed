//! A worker from start to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::WorkerConfig;
use super::declared_limits::DeclaredLimits;
use super::execute::Executor;
use super::fetch::Fetcher;
use super::held::Held;
use super::outage::Trouble;
use super::readiness::{Heart, Readiness};
use super::renew::Renewer;
use super::rooms::Rooms;
use super::settle::Settler;
use super::subscribe::{self, SubscriberStats};
use super::supervise::supervise;
use super::ticks::Ticks;
use crate::app::App;
use crate::client::Client;
use crate::notes::Notebook;
use crate::panics;
use crate::registry::{Registry, RegistryError};
use crate::shared_state::States;
use crate::store::messages::Broker;
use crate::store::{Store, StoreError};
use crate::subscriber::{SubscriberError, Subscribers};
use crate::types::{QueueName, Timestamp, WorkerId, WorkerInfo};

/// Why a worker did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The tasks or their state are not in order.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A subscriber has no server to read from.
    #[error(transparent)]
    Subscriber(#[from] SubscriberError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A setting cannot be what it is.
    #[error("worker settings: {0}")]
    Config(String),
    /// The operating system gave no thread for lease renewal.
    #[error("the thread for lease renewal could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Task names in the line that a worker starts with.
const NAMES: usize = 100;

/// Task names in a heartbeat: a program with more is not told whole, and says so in no other way.
const TOLD: usize = 1000;

/// A worker that can be started: tasks, state and settings were checked.
#[derive(Debug)]
pub struct Worker {
    client: Client,
    registry: Arc<Registry>,
    subscribers: Subscribers,
    /// Where the subscribers' messages are.
    broker: Option<Arc<dyn Broker>>,
    states: Arc<States>,
    config: WorkerConfig,
}

impl Worker {
    /// Checks tasks, state and settings.
    ///
    /// # Errors
    /// When no task is registered, two share a name, state is missing, or a setting is not usable.
    pub fn new(client: Client, app: App, mut config: WorkerConfig) -> Result<Self, WorkerError> {
        let (registry, subscribers, states) = app.checked()?;
        if config.queues.is_empty() {
            config.queues = registry.queues().into_iter().map(|queue| (queue, 1)).collect();
        }
        config.check().map_err(WorkerError::Config)?;
        let broker = subscribe::broker(&client, &subscribers, &config)?;
        Ok(Self { client, registry: Arc::new(registry), subscribers, broker, states: Arc::new(states), config })
    }

    /// The tasks it runs.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Reaches the store and starts to work. An unreachable store is waited for, not an error. The worker's client becomes
    /// the process's own, unless another one is in use already.
    ///
    /// # Errors
    /// When the store must not be used, or no thread can be started.
    pub async fn start(self) -> Result<RunningWorker, WorkerError> {
        self.probe().await?;
        if let Some(warning) = abort_warning(cfg!(panic = "abort")) {
            tracing::warn!("{warning}");
        }
        panics::install_hook();
        // What handlers spawn is outside of their scope; it shall not end up in another store.
        self.client.make_current();
        let id = WorkerId::random();
        tracing::info!(worker = %id, store = self.client.store().address(), tasks = self.registry.names(NAMES),
            queues = self.config.queue_list(), concurrency = self.config.concurrency, "worker starts");
        Ok(RunningWorker::launch(self, id)?)
    }

    async fn probe(&self) -> Result<(), StoreError> {
        if let Some(broker) = &self.broker
            && let Err(error) = broker.probe().await
            && !error.is_transient()
        {
            // One that is away is waited for, and told of by whoever reads.
            return Err(error);
        }
        match self.client.check().await {
            Ok(warnings) => {
                warnings.iter().for_each(|warning| tracing::warn!("{}", warning.0));
                Ok(())
            }
            Err(error) if error.is_transient() => {
                tracing::warn!(%error, "the store is not ready; the worker starts and waits for it");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Those of its queues that tasks of its own have schedules in.
    fn scheduled_queues(&self) -> impl Iterator<Item = QueueName> {
        let reads = |queue: &QueueName| self.config.queues.iter().any(|(read, _)| read == queue);
        self.registry.schedules().into_iter().map(|spec| spec.id.queue().clone()).filter(reads)
    }

    fn info(&self, id: WorkerId) -> WorkerInfo {
        WorkerInfo {
            id,
            queues: self.config.queues.iter().map(|(queue, _)| queue.clone()).collect(),
            tasks: self.registry.all_names().take(TOLD).map(str::to_owned).collect(),
            concurrency: u32::try_from(self.config.concurrency).unwrap_or(u32::MAX),
            running: 0,
            started_at: Timestamp::default(),
            seen_at: Timestamp::default(),
        }
    }
}

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// True when everything it ran had finished by itself and was settled; false when some tasks were given back
    /// unfinished, or some ends could not be settled.
    pub drained: bool,
}

/// A worker at work. Dropping it stops nothing: call [`RunningWorker::stop`].
#[derive(Debug)]
pub struct RunningWorker {
    id: WorkerId,
    stopping: CancellationToken,
    abort: CancellationToken,
    renewing: CancellationToken,
    tracker: TaskTracker,
    fetch: JoinHandle<()>,
    settle: JoinHandle<()>,
    renewed: oneshot::Receiver<()>,
    drain_timeout: Duration,
    unsettled: Arc<AtomicBool>,
    heart: Weak<Heart>,
    readiness: Readiness,
    subscribed: subscribe::Running,
}

/// How long the last settles may take after the drain: a store that is down must not hold the exit.
const LAST_SETTLES: Duration = Duration::from_secs(2);

impl RunningWorker {
    fn launch(worker: Worker, id: WorkerId) -> std::io::Result<Self> {
        let store: Arc<dyn Store> = worker.client.store().clone();
        let (held, trouble) = (Arc::new(Held::default()), Arc::new(Trouble::default()));
        let (stopping, abort, renewing) = Default::default();
        let unsettled = Arc::new(AtomicBool::new(false));
        let tracker = TaskTracker::new();
        let heart = Arc::new(Heart::new(worker.config.ready_threshold));
        let readiness = heart.readiness();
        let notebook = Arc::new(Notebook::default());
        let renewer = Renewer {
            store: store.clone(),
            held: held.clone(),
            notebook: notebook.clone(),
            worker: worker.info(id.clone()),
            lease: worker.config.lease,
            heartbeat: worker.config.heartbeat,
            silence: worker.config.silence(),
            schedules: worker.registry.schedules(),
            stop: CancellationToken::clone(&renewing),
            trouble: trouble.clone(),
            readiness: readiness.clone(),
        };
        let renewed = renewer.start()?;
        let ticks = Ticks::new(worker.scheduled_queues());
        let (finished, when_finished) = mpsc::unbounded_channel();
        let settler = Settler {
            store: store.clone(),
            held: held.clone(),
            trouble: trouble.clone(),
            unsettled: unsettled.clone(),
        };
        let declared = DeclaredLimits::of(&worker.registry);
        let concurrency = worker.config.concurrency.min(Semaphore::MAX_PERMITS);
        let slots = Arc::new(Semaphore::new(concurrency));
        let shared = subscribe::Shared {
            client: worker.client.clone(),
            states: worker.states.clone(),
            slots: slots.clone(),
            tracker: tracker.clone(),
            stopping: CancellationToken::clone(&stopping),
            abort: CancellationToken::clone(&abort),
            leaving: CancellationToken::clone(&renewing),
            // Another server has troubles of its own.
            trouble: if worker.config.subscribe_url.is_some() { Arc::default() } else { trouble.clone() },
            unsettled: unsettled.clone(),
            cancel_grace: worker.config.cancel_grace,
            concurrency,
            block: worker.config.poll,
        };
        let subscribed = subscribe::Running::launch(&worker.subscribers, worker.broker.as_ref(), &id, shared, &heart)?;
        let executor = Arc::new(Executor {
            client: worker.client,
            registry: worker.registry,
            states: worker.states,
            held,
            notebook,
            finished,
            slots,
            tracker: tracker.clone(),
            stopping: CancellationToken::clone(&stopping),
            abort: CancellationToken::clone(&abort),
            cancel_grace: worker.config.cancel_grace,
            max_result: worker.config.max_result,
        });
        let places = concurrency.saturating_add(worker.config.prefetch);
        let drain_timeout = worker.config.drain_timeout;
        let fetcher = Fetcher {
            store,
            executor,
            worker: id.clone(),
            rooms: Rooms::new(places, concurrency),
            stopping: CancellationToken::clone(&stopping),
            trouble,
            config: worker.config,
            heart,
            unheard: Default::default(),
            declared,
            paused: Default::default(),
            watches: Default::default(),
            ticks,
        };
        // Gone with the fetching loop: then there is nothing to stop any more.
        let heart = Arc::downgrade(&fetcher.heart);
        let fetch = tokio::spawn(async move { supervise("fetch", || fetcher.run()).await });
        // Without it the thread would outlive this runtime, and keep the leases of tasks that nobody runs any more.
        let ends_renewal = CancellationToken::clone(&renewing).drop_guard();
        let settle = tokio::spawn(async move {
            let _ends_renewal = ends_renewal;
            let when_finished = Mutex::new(when_finished);
            supervise("settle", || async { settler.run(&mut *when_finished.lock().await).await }).await;
        });
        Ok(Self {
            id,
            stopping,
            abort,
            renewing,
            tracker,
            fetch,
            settle,
            renewed,
            drain_timeout,
            unsettled,
            heart,
            readiness,
            subscribed,
        })
    }

    /// Its identity, random for each start.
    pub fn id(&self) -> &WorkerId {
        &self.id
    }

    /// Whether it can get work from its store, for probes. The handle lives on when the worker has stopped.
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// What became of the messages of each subscriber, since the start.
    pub fn subscriber_stats(&self) -> Vec<SubscriberStats> {
        self.subscribed.stats()
    }

    /// Stops fetching, waits for running tasks up to the drain timeout, gives the rest back to its queue (its attempt
    /// is not counted), and takes leave of the store.
    pub async fn stop(mut self) -> Stopped {
        tracing::info!(worker = %self.id, "worker stops: fetching no more, waiting for what runs");
        self.stopping.cancel();
        if let Some(heart) = self.heart.upgrade() {
            heart.stops();
        }
        let drain = async {
            let _ = (&mut self.fetch).await;
            self.tracker.close();
            self.tracker.wait().await;
        };
        let drained = tokio::time::timeout(self.drain_timeout, drain).await.is_ok();
        self.tracker.close();
        self.abort.cancel();
        self.fetch.abort();
        let last = async {
            // The fetcher and the attempts hold the senders; when they are gone the settler ends.
            self.tracker.wait().await;
            let _ = (&mut self.settle).await;
        };
        let settled = tokio::time::timeout(LAST_SETTLES, last).await.is_ok();
        if !settled {
            tracing::warn!(worker = %self.id, "the last attempts were not settled; other workers run them again within about ten seconds");
        }
        self.settle.abort();
        self.renewing.cancel();
        // The thread takes leave of the store within a heartbeat's time, or not at all.
        let left = async {
            (&mut self.renewed).await.ok();
            self.subscribed.left().await;
        };
        let _ = tokio::time::timeout(LAST_SETTLES, left).await;
        tracing::info!(worker = %self.id, drained, "worker stopped");
        Stopped { drained: drained && settled && !self.unsettled.load(Ordering::Acquire) }
    }
}

/// What a worker must say of the way it was built.
const fn abort_warning(aborts: bool) -> Option<&'static str> {
    match aborts {
        true => Some("built with panic = \"abort\": a task that panics takes this process and all that it runs down"),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::abort_warning;

    #[test]
    fn a_build_that_aborts_on_a_panic_is_warned_of() {
        assert!(abort_warning(true).is_some_and(|warning| warning.contains("panic = \"abort\"")));
        assert_eq!(abort_warning(false), None);
        assert_eq!(abort_warning(cfg!(panic = "abort")), None, "tests are built to unwind");
    }
}
