//! What ran, by number, and when.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
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
    /// How many are left when the one who waits wants to know.
    awaited: AtomicUsize,
    done: Notify,
    /// Where another process's ledger is kept: it is told what ran here, and `None` at the end.
    elsewhere: Option<mpsc::Sender<Option<usize>>>,
}

impl Ledger {
    pub(crate) fn new(tasks: usize) -> Arc<Self> {
        Arc::new(Self::with_places(tasks))
    }

    /// A ledger that passes on what ran.
    pub(crate) fn kept_elsewhere(elsewhere: mpsc::Sender<Option<usize>>) -> Arc<Self> {
        Arc::new(Self { elsewhere: Some(elsewhere), ..Self::with_places(0) })
    }

    fn with_places(tasks: usize) -> Self {
        let zeros = || (0..tasks).map(|_| AtomicU64::new(0)).collect();
        Self {
            zero: Instant::now(),
            runs: (0..tasks).map(|_| AtomicU8::new(0)).collect(),
            due: zeros(),
            began: zeros(),
            left: AtomicUsize::new(tasks),
            awaited: AtomicUsize::new(0),
            done: Notify::new(),
            elsewhere: None,
        }
    }

    /// Says from when on a task's lateness counts.
    pub(crate) fn due_in(&self, number: usize, delay: Duration) {
        self.due[number].store(self.now() + nanos(delay), Ordering::Relaxed);
    }

    /// The same, from an instant on.
    pub(crate) fn due_at(&self, number: usize, at: Instant) {
        self.due[number].store(nanos(at.saturating_duration_since(self.zero)), Ordering::Relaxed);
    }

    /// Notes that a task runs.
    pub(crate) fn mark(&self, number: usize) {
        if let Some(elsewhere) = &self.elsewhere {
            // Who listened has gone: then nobody counts.
            let _ = elsewhere.send(Some(number));
        } else if self.runs[number].fetch_add(1, Ordering::Relaxed) == 0 {
            self.began[number].store(self.now(), Ordering::Relaxed);
            if self.left.fetch_sub(1, Ordering::AcqRel) == self.awaited.load(Ordering::Acquire) + 1 {
                self.done.notify_one();
            }
        }
    }

    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Acquire)
    }

    /// Tells another process's ledger that no more is to come.
    pub(crate) fn close(&self) {
        let _ = self.elsewhere.as_ref().map(|elsewhere| elsewhere.send(None));
    }

    /// Waits until all have run, or nothing has for a long time.
    pub(crate) async fn all_ran(&self) {
        self.ran_but(0).await;
    }

    /// Waits until no more than `rest` are left, or nothing has run for a long time.
    pub(crate) async fn ran_but(&self, rest: usize) {
        self.awaited.store(rest, Ordering::Release);
        loop {
            let left = self.left();
            if left <= rest {
                return;
            }
            let stalled = tokio::time::timeout(STALL, self.done.notified()).await.is_err();
            if stalled && self.left() == left {
                return;
            }
        }
    }

    /// How many never ran, and how many runs were too many.
    pub(crate) fn reconcile(&self) -> (usize, usize) {
        let runs = self.runs.iter().map(|runs| usize::from(runs.load(Ordering::Relaxed)));
        runs.fold((0, 0), |(lost, more), runs| (lost + usize::from(runs == 0), more + runs.saturating_sub(1)))
    }

    /// How late each task began, in milliseconds, in rising order.
    pub(crate) fn lateness_ms(&self) -> Vec<f64> {
        self.lateness_ms_from(0)
    }

    /// The same of the tasks from this number on.
    pub(crate) fn lateness_ms_from(&self, first: usize) -> Vec<f64> {
        let late = |(due, began): (&AtomicU64, &AtomicU64)| {
            let (due, began) = (due.load(Ordering::Relaxed), began.load(Ordering::Relaxed));
            (began > 0).then(|| began.saturating_sub(due) as f64 / 1e6)
        };
        let mut all: Vec<f64> = self.due.iter().zip(&self.began).skip(first).filter_map(late).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ran_and_what_ran_too_often_is_counted() {
        let ledger = Ledger::new(4);
        [0, 2, 2, 2, 3].into_iter().for_each(|number| ledger.mark(number));
        assert_eq!((ledger.left(), ledger.reconcile()), (1, (1, 2)));
    }

    #[tokio::test]
    async fn who_waits_for_a_part_hears_when_it_has_run() {
        let ledger = Ledger::new(3);
        ledger.mark(0);
        let marks = async { ledger.mark(1) };
        tokio::join!(ledger.ran_but(1), marks);
        assert_eq!(ledger.left(), 1);
        ledger.mark(2);
        ledger.all_ran().await;
    }

    #[test]
    fn what_ran_is_passed_on_to_a_ledger_elsewhere() {
        let (sender, told) = mpsc::channel();
        let ledger = Ledger::kept_elsewhere(sender);
        ledger.mark(7);
        ledger.close();
        assert_eq!(told.iter().map_while(|number| number).collect::<Vec<_>>(), [7]);
    }
}
