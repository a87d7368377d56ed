//! What ran, by number, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// A run that gets nothing done for this long has lost tasks.
const STALL: Duration = Duration::from_secs(20);

/// A place for each task of a phase.
pub(crate) struct Ledger {
    zero: Instant,
    runs: Vec<AtomicU8>,
    /// When the task should have begun, and when it first did: nanoseconds since `zero`.
    due: Vec<AtomicU64>,
    began: Vec<AtomicU64>,
    left: AtomicUsize,
    done: Notify,
}

impl Ledger {
    pub(crate) fn new(tasks: usize) -> Arc<Self> {
        let zeros = || (0..tasks).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            zero: Instant::now(),
            runs: (0..tasks).map(|_| AtomicU8::new(0)).collect(),
            due: zeros(),
            began: zeros(),
            left: AtomicUsize::new(tasks),
            done: Notify::new(),
        })
    }

    /// Says from when on a task's lateness counts.
    pub(crate) fn due_in(&self, number: usize, delay: Duration) {
        self.due[number].store(self.now() + nanos(delay), Ordering::Relaxed);
    }

    /// Notes that a task runs.
    pub(crate) fn mark(&self, number: usize) {
        if self.runs[number].fetch_add(1, Ordering::Relaxed) == 0 {
            self.began[number].store(self.now(), Ordering::Relaxed);
            if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.done.notify_one();
            }
        }
    }

    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Acquire)
    }

    /// Waits until all have run, or nothing has for a long time.
    pub(crate) async fn all_ran(&self) {
        let mut left = self.left();
        while left > 0 && tokio::time::timeout(STALL, self.done.notified()).await.is_err() {
            let now = self.left();
            if now == left {
                return;
            }
            left = now;
        }
    }

    /// How many never ran, and how many runs were too many.
    pub(crate) fn reconcile(&self) -> (usize, usize) {
        let runs = self.runs.iter().map(|runs| usize::from(runs.load(Ordering::Relaxed)));
        runs.fold((0, 0), |(lost, more), runs| (lost + usize::from(runs == 0), more + runs.saturating_sub(1)))
    }

    /// How late each task began, in milliseconds, in rising order.
    pub(crate) fn lateness_ms(&self) -> Vec<f64> {
        let late = |(due, began): (&AtomicU64, &AtomicU64)| {
            let (due, began) = (due.load(Ordering::Relaxed), began.load(Ordering::Relaxed));
            (began > 0).then(|| began.saturating_sub(due) as f64 / 1e6)
        };
        let mut all: Vec<f64> = self.due.iter().zip(&self.began).filter_map(late).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// When the given share of the tasks had begun.
    pub(crate) fn time_of(&self, share: f64) -> Duration {
        let mut began: Vec<u64> = self.began.iter().map(|at| at.load(Ordering::Relaxed)).collect();
        began.sort_unstable();
        let at = ((began.len() as f64 * share) as usize).min(began.len().saturating_sub(1));
        Duration::from_nanos(began.get(at).copied().unwrap_or(0))
    }

    fn now(&self) -> u64 {
        nanos(self.zero.elapsed())
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
