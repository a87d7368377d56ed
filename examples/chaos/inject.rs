//! Does what was planned to go wrong, and notes when it really did.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use dtq_examples as net;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::faults::{Fault, Kind, Target};
use crate::fleet::{Fleet, Member, PRODUCER, in_order};
use crate::ledger::{Micros, now};
use crate::place::Place;

/// A time in which something was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) cause: Cause,
    pub(crate) reach: Reach,
    pub(crate) from: Micros,
    pub(crate) to: Micros,
}

/// What was wrong. In the order in which they explain a repeated run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Cause {
    Kill,
    Deploy,
    Stop,
    Network,
    Restart,
    /// A stopped process may hold the lock of the SQLite file.
    Lock,
    /// The machine itself: a process did not run, or the store did not answer, without anybody's doing.
    Stall,
}

impl Cause {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Deploy => "deploy",
            Self::Stop => "stop",
            Self::Network => "network",
            Self::Restart => "server_restart",
            Self::Lock => "lock",
            Self::Stall => "stall",
        }
    }
}

/// Whom it met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// The processes of one place.
    Member(String),
    Process(String),
}

/// What happened.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    pub(crate) windows: Vec<Window>,
    /// What should never happen, in words.
    pub(crate) problems: Vec<String>,
    /// Bytes of the append-only file that were dropped.
    pub(crate) dropped: u64,
}

impl Diary {
    /// Adds pauses that processes saw of themselves, except for those that this program made.
    pub(crate) fn add_pauses(&mut self, mut pauses: Vec<Window>) {
        let stops: Vec<_> = self.windows.iter().filter(|window| window.cause == Cause::Stop).cloned().collect();
        let made = |pause: &Window| {
            stops.iter().any(|stop| stop.reach == pause.reach && stop.from <= pause.to && pause.from <= stop.to)
        };
        pauses.retain(|pause| !made(pause));
        self.windows.append(&mut pauses);
    }
}

#[derive(Clone)]
pub(crate) struct Injector {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) place: Place,
    pub(crate) diary: Arc<Mutex<Diary>>,
}

impl Injector {
    /// Lets every fault happen at its time, and waits until all are over.
    pub(crate) async fn run(&self, faults: Vec<Fault>) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut all = JoinSet::new();
        for fault in faults {
            let this = self.clone();
            all.spawn(async move {
                sleep_until(began + fault.at).await;
                this.inject(fault).await.with_context(|| format!("fault at {fault}"))
            });
        }
        while let Some(done) = all.join_next().await {
            done??;
        }
        Ok(())
    }

    async fn inject(&self, fault: Fault) -> anyhow::Result<()> {
        let member = match fault.target {
            Target::Server => return self.restart_server(fault.lasts).await,
            Target::Worker(n) => &self.fleet.workers[n],
            Target::Producer => &self.fleet.producer,
        };
        match fault.kind {
            Kind::Kill => self.kill(member, fault.lasts).await,
            Kind::Stop => self.stop(member, fault.lasts).await,
            Kind::Deploy => self.deploy(member).await,
            kind => {
                self.disturb(member, kind, fault.lasts).await;
                Ok(())
            }
        }
    }

    async fn kill(&self, member: &Member, down: Duration) -> anyhow::Result<()> {
        let mut process = member.process.lock().await;
        let from = now();
        let ended = process.kill()?;
        self.note(Cause::Kill, Reach::Process(process.name.clone()), from);
        match ended {
            // All is enqueued; it has nothing more to do.
            Some(status) if member.name == PRODUCER && status.success() => {}
            Some(status) => self.problem(format!("{} ended by itself: {status}", process.name)),
            None => {}
        }
        sleep(down).await;
        member.launch(&mut process)
    }

    async fn stop(&self, member: &Member, lasts: Duration) -> anyhow::Result<()> {
        let process = member.process.lock().await;
        let from = now();
        process.signal("STOP")?;
        sleep(lasts).await;
        process.signal("CONT")?;
        self.note(Cause::Stop, Reach::Process(process.name.clone()), from);
        if self.place.redis().is_none() {
            self.note(Cause::Lock, Reach::All, from);
        }
        Ok(())
    }

    async fn deploy(&self, member: &Member) -> anyhow::Result<()> {
        let mut process = member.process.lock().await;
        let from = now();
        process.signal("TERM")?;
        match process.ends(Duration::from_secs(10)).await? {
            Some(status) if in_order(status) => {}
            Some(status) => self.problem(format!("{} left with {status}", process.name)),
            None => self.problem(format!("{} did not leave within 10 s", process.name)),
        }
        process.kill()?;
        self.note(Cause::Deploy, Reach::Process(process.name.clone()), from);
        member.launch(&mut process)
    }

    async fn disturb(&self, member: &Member, kind: Kind, lasts: Duration) {
        let Some(proxy) = &member.proxy else { return };
        let from = now();
        match kind {
            Kind::Cut => proxy.cut(),
            Kind::Tear => proxy.tear_next_reply(),
            Kind::LoseReply => proxy.lose_reply_to("EVALSHA"),
            Kind::Refuse => proxy.set(net::Fault::Refuse),
            Kind::BlackHole => proxy.set(net::Fault::BlackHole),
            _ => proxy.set(net::Fault::Delay(Duration::from_millis(150))),
        }
        sleep(lasts).await;
        // A trap waits for a reply.
        while proxy.is_trap_set() && from + 10_000_000 > now() {
            sleep(Duration::from_millis(5)).await;
        }
        if lasts > Duration::ZERO {
            proxy.set(net::Fault::None);
        }
        self.note(Cause::Network, Reach::Member(member.name.clone()), from);
    }

    async fn restart_server(&self, down: Duration) -> anyhow::Result<()> {
        let Some(redis) = self.place.redis().cloned() else { return Ok(()) };
        let from = now();
        let dropped = tokio::task::spawn_blocking(move || redis.restart(down)).await??;
        self.note(Cause::Restart, Reach::All, from);
        self.diary().dropped += dropped;
        Ok(())
    }

    fn note(&self, cause: Cause, reach: Reach, from: Micros) {
        self.diary().windows.push(Window { cause, reach, from, to: now() });
    }

    fn problem(&self, problem: String) {
        self.diary().problems.push(problem);
    }

    fn diary(&self) -> std::sync::MutexGuard<'_, Diary> {
        self.diary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
