//! How a worker works.

use std::fmt;
use std::time::Duration;

use crate::types::QueueName;

/// Settings of one worker.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerConfig {
    /// The queues it reads; empty means every queue that a registered task names.
    pub queues: Vec<(QueueName, u32)>,
    /// How it chooses between them.
    pub order: QueueOrder,
    /// Tasks that run at once at most; 64 by default.
    pub concurrency: usize,
    /// Tasks that are fetched ahead of a free slot; 0 by default. They are leased, so no other worker can run them.
    pub prefetch: usize,
    /// How long a lease lasts without renewal; 30 s by default. It is renewed after a third of it.
    pub lease: Duration,
    /// How long a shutdown waits for running tasks; 30 s by default.
    pub drain_timeout: Duration,
    /// How long a task that was called off, or lost its lease, may go on before it is dropped; 10 s by default.
    pub cancel_grace: Duration,
    /// Time between heartbeats; 2 s by default. A worker that was not heard of for four times as long counts as gone,
    /// and others take over its tasks.
    pub heartbeat: Duration,
    /// Bytes of an encoded result; 16 MiB by default. A larger one fails its task.
    pub max_result: usize,
    /// How long an idle worker waits before it looks by itself; 3 s by default. New tasks wake it, and it or another one comes
    /// back when a delayed one is due: this is for what nobody tells it of. It looks more often when leases or heartbeats are short, so
    /// that it notices dead workers in time.
    pub poll: Duration,
    /// A worker whose fetches have all failed for longer than this is not ready, see [`Readiness`](crate::Readiness); 10 s
    /// by default.
    pub ready_threshold: Duration,
    /// The server whose messages subscribers read; that of the store, unless set.
    pub(crate) subscribe_url: Option<ServerUrl>,
}

/// A URL that may hold a password: it is never shown.
#[derive(Clone)]
pub(crate) struct ServerUrl(pub(crate) String);

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(not shown)")
    }
}

/// How a worker chooses between its queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueOrder {
    /// The first queue before the second, and so on: a later one is read when the earlier ones are empty.
    #[default]
    Strict,
    /// Each round starts with a queue drawn by weight: none starves.
    Weighted,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            queues: Vec::new(),
            order: QueueOrder::Strict,
            concurrency: 64,
            prefetch: 0,
            lease: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(10),
            heartbeat: Duration::from_secs(2),
            max_result: 16 * 1024 * 1024,
            poll: Duration::from_secs(3),
            ready_threshold: Duration::from_secs(10),
            subscribe_url: None,
        }
    }
}

impl WorkerConfig {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads these queues, in this order.
    pub fn queues(mut self, queues: impl IntoIterator<Item = QueueName>) -> Self {
        self.queues = queues.into_iter().map(|queue| (queue, 1)).collect();
        self.order = QueueOrder::Strict;
        self
    }

    /// Reads these queues, each in proportion to its weight.
    pub fn weighted_queues(mut self, queues: impl IntoIterator<Item = (QueueName, u32)>) -> Self {
        self.queues = queues.into_iter().collect();
        self.order = QueueOrder::Weighted;
        self
    }

    /// Sets [`WorkerConfig::concurrency`].
    pub fn concurrency(mut self, tasks: usize) -> Self {
        self.concurrency = tasks;
        self
    }

    /// Sets [`WorkerConfig::prefetch`].
    pub fn prefetch(mut self, tasks: usize) -> Self {
        self.prefetch = tasks;
        self
    }

    /// Sets [`WorkerConfig::lease`].
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets [`WorkerConfig::heartbeat`].
    pub fn heartbeat(mut self, interval: Duration) -> Self {
        self.heartbeat = interval;
        self
    }

    /// Sets [`WorkerConfig::drain_timeout`].
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Sets [`WorkerConfig::cancel_grace`].
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }

    /// Sets [`WorkerConfig::ready_threshold`].
    pub fn ready_threshold(mut self, threshold: Duration) -> Self {
        self.ready_threshold = threshold;
        self
    }

    /// Has subscribers read their messages from the server at `redis://[USER:PASSWORD@]HOST:PORT[/DB]`; without this, from the
    /// store's. An empty URL is none.
    pub fn subscribe_url(mut self, url: impl Into<String>) -> Self {
        self.subscribe_url = Some(ServerUrl(url.into())).filter(|url| !url.0.is_empty());
        self
    }

    /// The queues for a log line, as the setting is written: `high, default`, or `high=3, default=1`.
    pub(crate) fn queue_list(&self) -> String {
        let weighted = self.order == QueueOrder::Weighted;
        let show = |(name, weight): &(QueueName, u32)| match weighted {
            true => format!("{name}={weight}"),
            false => name.to_string(),
        };
        self.queues.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    /// How long the worker may be silent before it counts as gone.
    pub(crate) fn silence(&self) -> Duration {
        const MISSED: u32 = 4;
        self.heartbeat.saturating_mul(MISSED)
    }

    /// How long an idle worker waits before it looks by itself. Whoever looks was heard of; if nobody is for half a silence,
    /// the store counts as having been away, and no worker as gone.
    pub(crate) fn look(&self) -> Duration {
        const SHORTEST: Duration = Duration::from_millis(100);
        self.poll.min(self.heartbeat * 3 / 2).min((self.lease / 4).max(SHORTEST))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        const SHORTEST_LEASE: Duration = Duration::from_millis(100);
        const SHORTEST_POLL: Duration = Duration::from_millis(1);
        const LONGEST: Duration = Duration::from_secs(24 * 3600);
        if self.concurrency == 0 {
            return Err("concurrency is 0: a worker must run at least 1 task at once".into());
        }
        for (name, value, shortest) in [
            ("lease", self.lease, SHORTEST_LEASE),
            ("heartbeat", self.heartbeat, SHORTEST_LEASE),
            ("poll", self.poll, SHORTEST_POLL),
            ("ready_threshold", self.ready_threshold, SHORTEST_LEASE),
        ] {
            if value < shortest || value > LONGEST {
                let show = humantime::format_duration;
                let (shortest, longest) = (show(shortest), show(LONGEST));
                return Err(format!("{name} is {}: it must lie between {shortest} and {longest}", show(value)));
            }
        }
        match self.queues.iter().find(|(_, weight)| *weight == 0) {
            Some((queue, _)) => Err(format!("queue {queue:?} has weight 0 and would never be read: leave it out")),
            None => Ok(()),
        }
    }
}
