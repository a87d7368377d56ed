//! What is enqueued, when, and how each task is to end: all of it from the seed.

use std::fmt;
use std::time::Duration;

use dtq::types::{QueueName, Status, TaskId, Uuid};
use fastrand::Rng;

/// The queues of a run.
pub(crate) const QUEUES: [&str; 3] = ["red", "green", "blue"];

/// How a task is made to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Design {
    /// Succeeds in its first attempt.
    Steady,
    /// The same, as a plain function.
    Plain,
    /// Runs longer than a lease.
    Long,
    /// Has a time to live that a fault may outlast.
    Expiring,
    /// Fails so often, then succeeds.
    Flaky { failures: u32 },
    /// Panics so often, then succeeds.
    Panics { panics: u32 },
    /// Fails for good at once.
    Permanent,
    /// Fails until its attempts are over.
    Hopeless { dead_letter: bool },
}

impl Design {
    fn random(rng: &mut Rng) -> Self {
        match rng.u8(..100) {
            0..70 => Self::Steady,
            70..75 => Self::Plain,
            75..77 => Self::Long,
            77..79 => Self::Expiring,
            79..89 => Self::Flaky { failures: rng.u32(1..=3) },
            89..93 => Self::Panics { panics: rng.u32(1..=2) },
            93..97 => Self::Permanent,
            _ => Self::Hopeless { dead_letter: rng.bool() },
        }
    }

    /// Tasks that are to succeed have attempts to spare, so that no run of bad luck with workers uses them up.
    pub(crate) fn max_attempts(self) -> u32 {
        if matches!(self, Self::Hopeless { .. }) { 3 } else { 25 }
    }

    pub(crate) fn dead_letter(self) -> bool {
        !matches!(self, Self::Hopeless { dead_letter: false })
    }

    /// The status it ends in, unless it is called off or expires.
    pub(crate) fn end(self) -> Status {
        match self {
            Self::Permanent | Self::Hopeless { dead_letter: true } => Status::DeadLettered,
            Self::Hopeless { dead_letter: false } => Status::Failed,
            _ => Status::Succeeded,
        }
    }
}

/// One task.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) id: TaskId,
    pub(crate) design: Design,
    /// How long a run takes.
    pub(crate) ms: u64,
    pub(crate) priority: u8,
    pub(crate) delay: Option<Duration>,
    pub(crate) ttl: Option<Duration>,
    /// It is called off this long after it was accepted.
    pub(crate) cancel_after: Option<Duration>,
    /// It is enqueued again, with the same id, this long after it was accepted.
    pub(crate) again_after: Option<Duration>,
}

/// Tasks that are enqueued with one call.
#[derive(Debug)]
pub(crate) struct Submission {
    /// When, from the beginning of the run.
    pub(crate) at: Duration,
    pub(crate) tasks: Vec<Planned>,
}

/// Spreads so many tasks over a span.
pub(crate) fn submissions(seed: u64, tasks: usize, span: Duration) -> anyhow::Result<Vec<Submission>> {
    let mut rng = Rng::with_seed(seed);
    let queues = QUEUES.iter().map(|name| QueueName::new(name)).collect::<Result<Vec<_>, _>>()?;
    let (mut all, mut made) = (Vec::new(), 0);
    while made < tasks {
        let size = if rng.bool() { 1 } else { rng.usize(2..=16) }.min(tasks - made);
        let at = span.mul_f64(made as f64 / tasks as f64);
        all.push(Submission { at, tasks: (0..size).map(|_| planned(&mut rng, &queues)).collect() });
        made += size;
    }
    Ok(all)
}

fn planned(rng: &mut Rng, queues: &[QueueName]) -> Planned {
    let queue = queues[rng.usize(..queues.len())].clone();
    let id = TaskId::new(queue, Uuid::from_u128(rng.u128(..)));
    let design = Design::random(rng);
    let ms = match design {
        Design::Long => rng.u64(2_500..3_500),
        _ if rng.u8(..20) == 0 => rng.u64(200..800),
        _ => rng.u64(1..60),
    };
    let cancelled = rng.u8(..20) == 0;
    // Half of those that are called off would have run later.
    let delayed = rng.u8(..10) == 0 || (cancelled && rng.bool());
    let delay = delayed.then(|| Duration::from_millis(rng.u64(100..2_000)));
    let ttl = (design == Design::Expiring).then(|| Duration::from_millis(rng.u64(300..3_000)));
    let cancel_after = cancelled.then(|| Duration::from_millis(rng.u64(..1_000)));
    let again_after = (rng.u8(..20) == 0).then(|| Duration::from_millis(rng.u64(..2_000)));
    Planned { id, design, ms, priority: rng.u8(..10), delay, ttl, cancel_after, again_after }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {} ms, priority {}", self.id, self.design, self.ms, self.priority)?;
        for (what, when) in [
            ("delay", self.delay),
            ("ttl", self.ttl),
            ("cancelled after", self.cancel_after),
            ("again after", self.again_after),
        ] {
            if let Some(when) = when {
                write!(f, ", {what} {} ms", when.as_millis())?;
            }
        }
        Ok(())
    }
}
