//! Whether a worker can get work. Local to its process: it decides nothing about tasks, so it may use the process's clock.

use std::time::{Duration, Instant};

use tokio::sync::watch;

/// Whether a worker can get work from its store, for probes and load balancers. Cheap to clone.
///
/// Ready from the first fetch that worked, whether it brought a task or not. Not ready once no fetch has worked for longer
/// than [`WorkerConfig::ready_threshold`](crate::WorkerConfig::ready_threshold), until the next one that does, and when the
/// worker stops. A worker that fetches nothing because all its slots are taken stays what it was.
#[derive(Debug, Clone)]
pub struct Readiness {
    pulse: watch::Receiver<Pulse>,
    threshold: Duration,
    /// What this handle told last.
    told: bool,
}

/// What the loops that fetch show of themselves: the one for tasks, and one for each subscriber.
#[derive(Debug, Clone, Default)]
struct Pulse {
    loops: Vec<Beat>,
    stopped: bool,
}

/// What one loop shows.
#[derive(Debug, Clone, Copy, Default)]
struct Beat {
    /// A fetch has worked, ever.
    begun: bool,
    /// When the oldest fetch began that has not worked yet, nor any after it.
    trying_since: Option<Instant>,
}

impl Readiness {
    /// Whether it is ready now.
    pub fn is_ready(&self) -> bool {
        self.pulse.borrow().is_ready(self.threshold)
    }

    /// Waits until readiness is another than this handle told last, and tells it; a new handle begins with "not ready", and
    /// a clone with what its original told. `None` when the worker has stopped and that was told.
    pub async fn changed(&mut self) -> Option<bool> {
        loop {
            let pulse = self.pulse.borrow_and_update().clone();
            let ready = pulse.is_ready(self.threshold);
            if ready != self.told {
                self.told = ready;
                return Some(ready);
            }
            if pulse.stopped {
                return None;
            }
            // Not every beat is told: what begins to try from now on lapses after the threshold at the earliest.
            let next_look = pulse.lapses(self.threshold).or_else(|| Instant::now().checked_add(self.threshold));
            tokio::select! {
                // A heart that is gone has said before that it stops.
                _ = self.pulse.changed() => {}
                () = until(next_look.filter(|_| ready)) => {}
            }
        }
    }

    /// Logs each change, until the worker stops (which is logged by itself).
    pub(super) async fn log_changes(mut self) {
        while let Some(ready) = self.changed().await {
            if ready {
                tracing::info!("ready: the worker fetches from its store");
            } else if !self.pulse.borrow().stopped {
                let threshold = humantime::format_duration(self.threshold);
                tracing::warn!(%threshold, "not ready: no fetch has worked for longer than the threshold");
            }
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant.into()).await,
        None => std::future::pending().await,
    }
}

impl Pulse {
    fn is_ready(&self, threshold: Duration) -> bool {
        let lapsed = self.lapses(threshold).is_some_and(|lapse| lapse <= Instant::now());
        self.loops.iter().all(|one| one.begun) && !self.stopped && !lapsed
    }

    /// When readiness ends unless a fetch works before.
    fn lapses(&self, threshold: Duration) -> Option<Instant> {
        self.loops.iter().filter_map(|one| one.trying_since?.checked_add(threshold)).min()
    }
}

/// A fetching loop's end of it. Dropped, it counts as stopped. Only what changes readiness wakes those who wait for a
/// change: a busy worker fetches thousands of times a second.
#[derive(Debug)]
pub(super) struct Heart {
    pulse: watch::Sender<Pulse>,
    /// Which loop's it is.
    at: usize,
    threshold: Duration,
}

impl Heart {
    pub(super) fn new(threshold: Duration) -> Self {
        Self { pulse: watch::Sender::new(Pulse { loops: vec![Beat::default()], stopped: false }), at: 0, threshold }
    }

    /// That of another loop: the worker is ready when all of them are.
    pub(super) fn another(&self) -> Self {
        let mut at = 0;
        self.pulse.send_modify(|pulse| {
            at = pulse.loops.len();
            pulse.loops.push(Beat::default());
        });
        Self { pulse: self.pulse.clone(), at, threshold: self.threshold }
    }

    pub(super) fn readiness(&self) -> Readiness {
        Readiness { pulse: self.pulse.subscribe(), threshold: self.threshold, told: false }
    }

    /// A call to the store begins that should be answered by `due`.
    pub(super) fn tries(&self, due: Instant) {
        self.pulse.send_if_modified(|pulse| {
            pulse.loops[self.at].trying_since.get_or_insert(due);
            false
        });
    }

    /// The store has answered.
    pub(super) fn reached(&self) {
        self.pulse.send_if_modified(|pulse| {
            let was_ready = pulse.is_ready(self.threshold);
            pulse.loops[self.at] = Beat { begun: true, trying_since: None };
            !was_ready && pulse.is_ready(self.threshold)
        });
    }

    /// The worker fetches no more.
    pub(super) fn stops(&self) {
        self.pulse.send_modify(|pulse| pulse.stopped = true);
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.stops();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: Duration = Duration::from_secs(10);

    /// A heart whose first fetch worked, and which is trying since so long ago.
    fn trying_for(elapsed: Duration) -> (Heart, Readiness) {
        let heart = Heart::new(THRESHOLD);
        heart.reached();
        heart.tries(Instant::now().checked_sub(elapsed).unwrap());
        let readiness = heart.readiness();
        (heart, readiness)
    }

    #[tokio::test]
    async fn it_is_ready_from_the_first_fetch_that_works_until_the_stop() {
        let heart = Heart::new(THRESHOLD);
        let mut readiness = heart.readiness();
        heart.tries(Instant::now());
        assert!(!readiness.is_ready());
        heart.reached();
        assert!(readiness.is_ready());
        assert_eq!(readiness.changed().await, Some(true));
        heart.stops();
        assert!(!readiness.is_ready());
        assert_eq!(readiness.changed().await, Some(false));
        assert_eq!(readiness.changed().await, None);
    }

    #[tokio::test]
    async fn it_ends_when_no_fetch_works_for_longer_than_the_threshold_and_returns_with_the_next() {
        let (heart, readiness) = trying_for(Duration::from_secs(9));
        assert!(readiness.is_ready());
        drop(heart);
        let (heart, mut readiness) = trying_for(Duration::from_secs(11));
        assert!(!readiness.is_ready());
        // Further tries do not set the clock back.
        heart.tries(Instant::now());
        assert!(!readiness.is_ready());
        heart.reached();
        assert_eq!(readiness.changed().await, Some(true));
    }

    #[tokio::test]
    async fn the_threshold_passes_without_anybody_telling() {
        let (_heart, mut readiness) = trying_for(THRESHOLD - Duration::from_millis(50));
        assert_eq!(readiness.changed().await, Some(true));
        assert_eq!(readiness.changed().await, Some(false));
    }

    #[tokio::test]
    async fn beats_that_change_nothing_wake_nobody_and_a_silence_after_them_is_noticed() {
        let heart = Heart::new(Duration::from_millis(50));
        heart.reached();
        let mut readiness = heart.readiness();
        assert_eq!(readiness.changed().await, Some(true));
        for _ in 0..3 {
            heart.tries(Instant::now());
            assert!(!readiness.pulse.has_changed().unwrap());
            heart.reached();
            assert!(!readiness.pulse.has_changed().unwrap());
        }
        let waits = tokio::spawn(async move { readiness.changed().await });
        tokio::task::yield_now().await;
        heart.tries(Instant::now());
        assert_eq!(waits.await.unwrap(), Some(false));
    }

    #[tokio::test]
    async fn a_worker_is_ready_when_all_of_its_loops_are() {
        let tasks = Heart::new(THRESHOLD);
        let messages = tasks.another();
        let readiness = tasks.readiness();
        tasks.reached();
        assert!(!readiness.is_ready());
        messages.reached();
        assert!(readiness.is_ready());
        messages.tries(Instant::now().checked_sub(THRESHOLD * 2).unwrap());
        tasks.reached();
        assert!(!readiness.is_ready(), "one loop's success says nothing of another's server");
    }

    #[tokio::test]
    async fn a_worker_that_is_gone_is_not_ready() {
        let heart = Heart::new(THRESHOLD);
        heart.reached();
        let mut readiness = heart.readiness();
        assert_eq!(readiness.changed().await, Some(true));
        drop(heart);
        assert_eq!(readiness.changed().await, Some(false));
        assert_eq!(readiness.changed().await, None);
    }
}
