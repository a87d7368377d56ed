//! The processes of the fleet: each with a place of its own, in which one follows the other.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use dtq_examples::Proxy;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::args::Options;
use crate::ledger::now;
use crate::place::Place;

pub(crate) const PRODUCER: &str = "producer";

/// All of them.
pub(crate) struct Fleet {
    pub(crate) workers: Vec<Member>,
    pub(crate) producer: Member,
}

/// A place in the fleet.
pub(crate) struct Member {
    /// The name of the place: that of its processes is this and a number.
    pub(crate) name: String,
    /// What stands between its process and the server.
    pub(crate) proxy: Option<Proxy>,
    pub(crate) process: Mutex<Process>,
    arguments: Vec<String>,
    folder: PathBuf,
}

/// The process in a place. Killed when dropped.
#[derive(Default)]
pub(crate) struct Process {
    child: Option<Child>,
    starts: u32,
    pub(crate) name: String,
}

impl Fleet {
    /// Starts all of them.
    pub(crate) async fn start(options: &Options, place: &Place, folder: &Path) -> anyhow::Result<Self> {
        let mut workers = Vec::new();
        for n in 0..options.workers {
            workers.push(Member::start(format!("worker-{n}"), vec!["worker".into()], place, folder).await?);
        }
        let (seed, tasks) = (options.seed.to_string(), options.tasks.to_string());
        let (span, began) = (options.span().as_millis().to_string(), now().to_string());
        let arguments = ["producer", "--seed", &seed, "--tasks", &tasks, "--span-ms", &span, "--began", &began];
        let arguments = arguments.map(str::to_owned).to_vec();
        let producer = Member::start(PRODUCER.into(), arguments, place, folder).await?;
        Ok(Self { workers, producer })
    }

    /// Waits until the producer has done everything; false when it did not within this time.
    pub(crate) async fn producer_ends(&self, within: Duration) -> anyhow::Result<bool> {
        let Some(status) = self.producer.process.lock().await.ends(within).await? else { return Ok(false) };
        ensure!(status.success(), "the producer failed: {status}");
        Ok(true)
    }

    /// Lets every worker take its leave; gives the names of those that did not.
    pub(crate) async fn stop(&self) -> anyhow::Result<Vec<String>> {
        let mut failed = Vec::new();
        for worker in &self.workers {
            worker.process.lock().await.signal("TERM")?;
        }
        for worker in &self.workers {
            let mut process = worker.process.lock().await;
            match process.ends(Duration::from_secs(10)).await? {
                Some(status) if in_order(status) => {}
                _ => failed.push(process.name.clone()),
            }
        }
        Ok(failed)
    }
}

impl Member {
    async fn start(name: String, mut arguments: Vec<String>, place: &Place, folder: &Path) -> anyhow::Result<Self> {
        let proxy = match place.redis() {
            Some(redis) => Some(Proxy::to(redis.port).await?),
            None => None,
        };
        arguments.extend(["--url".into(), place.url(proxy.as_ref().map(Proxy::port))]);
        if place.is_normal() {
            arguments.push("--normal".into());
        }
        let member = Self { name, proxy, process: Mutex::default(), arguments, folder: folder.to_owned() };
        member.launch(&mut *member.process.lock().await)?;
        Ok(member)
    }

    /// Starts the next process of this place.
    pub(crate) fn launch(&self, process: &mut Process) -> anyhow::Result<()> {
        process.starts += 1;
        process.name = format!("{}.{}", self.name, process.starts);
        let log = self.folder.join(format!("{}.log", self.name));
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        // A producer goes on in the ledger of the one before it; runs belong to one process.
        let ledger = if self.name == PRODUCER { &self.name } else { &process.name };
        let mut command = Command::new(std::env::current_exe()?);
        command.args(&self.arguments).args(["--name", &process.name, "--ledger"]);
        command.arg(self.folder.join(format!("{ledger}.ledger"))).stdin(Stdio::piped()).stdout(Stdio::null());
        process.child = Some(command.stderr(log).spawn().context("a member of the fleet cannot be started")?);
        Ok(())
    }
}

impl Process {
    /// Sends a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) -> anyhow::Result<()> {
        let child = self.child.as_ref().context("no process to send a signal to")?;
        let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status()?;
        ensure!(status.success(), "kill -s {name} {} failed", self.name);
        Ok(())
    }

    /// Kills it. Gives its status when it had ended by itself before.
    pub(crate) fn kill(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let Some(mut child) = self.child.take() else { return Ok(None) };
        let ended = child.try_wait()?;
        child.kill()?;
        child.wait()?;
        Ok(ended)
    }

    /// Waits for its end; `None` when it does not come within this time.
    pub(crate) async fn ends(&mut self, within: Duration) -> anyhow::Result<Option<ExitStatus>> {
        let child = self.child.as_mut().context("no process to wait for")?;
        let deadline = Instant::now() + within;
        loop {
            let status = child.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// True for the end of a worker that was told to leave; one that had not begun to listen had nothing in hand.
pub(crate) fn in_order(status: ExitStatus) -> bool {
    const SIGTERM: i32 = 15;
    status.success() || status.signal() == Some(SIGTERM)
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.kill();
    }
}
