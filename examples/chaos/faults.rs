//! What goes wrong, when and for how long: all of it from the seed.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use fastrand::Rng;

use crate::args::{Options, StoreKind};

/// Whom a fault meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Worker(usize),
    Producer,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// SIGKILL, and a new process after a while.
    Kill,
    /// SIGSTOP for longer than a lease, then SIGCONT.
    Stop,
    /// SIGTERM with little time to finish, and a new process.
    Deploy,
    /// The server: SIGKILL, and a new process on the same files.
    Restart,
    /// Every connection is reset, once.
    Cut,
    /// Every connection is reset, new ones too, for a while.
    Refuse,
    /// Nothing passes for a while.
    BlackHole,
    /// Everything is late for a while.
    Delay,
    /// Half of a reply arrives, then the connection ends.
    Tear,
    /// A script is run and its reply is lost.
    LoseReply,
}

impl Kind {
    /// True when it happens between a process and the server, so that it can go together with one of the process's own.
    fn is_network(self) -> bool {
        !matches!(self, Self::Kill | Self::Stop | Self::Deploy | Self::Restart)
    }

    fn lasts(self, rng: &mut Rng) -> Duration {
        Duration::from_millis(match self {
            Self::Kill => rng.u64(..1_000),
            Self::Stop => rng.u64(2_500..4_500),
            Self::Restart => rng.u64(50..800),
            Self::Refuse => rng.u64(300..2_000),
            Self::BlackHole => rng.u64(500..4_500),
            Self::Delay => rng.u64(500..2_500),
            Self::Deploy | Self::Cut | Self::Tear | Self::LoseReply => 0,
        })
    }
}

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// When, from the beginning of the run.
    pub(crate) at: Duration,
    pub(crate) target: Target,
    pub(crate) kind: Kind,
    pub(crate) lasts: Duration,
}

/// The faults of a run. Each kind comes once before any comes again; a target that is still busy with one is spared.
pub(crate) fn faults(options: &Options) -> Vec<Fault> {
    let mut rng = Rng::with_seed(options.seed ^ 0xFA17_5EED);
    let mut busy = HashMap::new();
    let (mut all, mut deck) = (Vec::new(), Vec::new());
    let mut at = Duration::from_millis(500);
    while at < options.span() {
        if deck.is_empty() {
            deck = kinds(options);
            rng.shuffle(&mut deck);
        }
        let Some((kind, of_producer)) = deck.pop() else { break };
        let target = match kind {
            Kind::Restart => Target::Server,
            _ if of_producer => Target::Producer,
            _ => Target::Worker(rng.usize(..options.workers)),
        };
        let lasts = kind.lasts(&mut rng);
        let free_at = busy.entry((target, kind.is_network())).or_insert(Duration::ZERO);
        if *free_at <= at {
            // A moment to recover, so that each fault meets a process at work.
            *free_at = at + lasts + Duration::from_millis(300);
            all.push(Fault { at, target, kind, lasts });
        }
        at += Duration::from_millis(rng.u64(250..1_000));
    }
    all
}

/// A deck of faults; true stands for the producer's.
fn kinds(options: &Options) -> Vec<(Kind, bool)> {
    let (worker, producer) = (|kind| (kind, false), |kind| (kind, true));
    let mut deck = vec![worker(Kind::Kill); 3];
    deck.extend([worker(Kind::Stop), worker(Kind::Deploy), producer(Kind::Kill), producer(Kind::Stop)]);
    if options.store == StoreKind::Redis {
        let network = [Kind::Cut, Kind::Refuse, Kind::BlackHole, Kind::Delay, Kind::Tear, Kind::LoseReply];
        deck.extend(network.map(worker));
        deck.extend([Kind::Cut, Kind::BlackHole, Kind::LoseReply].map(producer));
    }
    if options.restarts_server() {
        deck.push(worker(Kind::Restart));
    }
    deck
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, lasts) = (self.at.as_secs_f64(), self.lasts.as_millis());
        write!(f, "{at:7.3} s  {:?} {:?}", self.target, self.kind)?;
        if lasts > 0 { write!(f, " for {lasts} ms") } else { Ok(()) }
    }
}
