//! Stores that go away, refuse, fall silent or forget, under worker processes and producers. What holds in every outage:
//! no worker exits or spins, an outage is told once and its end once, and work goes on within two seconds of the store's
//! return.

mod connection;
mod delays;
mod producers;
mod readiness;
mod refusals;
mod server;
mod sqlite;
mod sqlite_disk;
mod sqlite_shared;
mod state_lost;
mod waiters;

use std::time::{Duration, Instant};

use dtq_examples::Proxy;
use dtq_tests::{RedisServer, eventually};

use crate::program::{Desk, PATIENCE, Program};
use crate::worker::on_both_stores;

/// Within this of a store's return, work goes on.
const RETURN: Duration = Duration::from_secs(2);

/// A server that keeps its data when it dies.
const LASTING: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// A server with a proxy before it. The desk speaks to the server itself; its workers come through the proxy.
struct Site {
    server: RedisServer,
    proxy: Proxy,
    desk: Desk,
}

impl Site {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With a server that was started with further arguments.
    async fn with(arguments: &[&str]) -> Self {
        let server = RedisServer::start_with(arguments).await;
        let proxy = Proxy::to(server.port()).await.unwrap();
        let mut desk = Desk::at(server.url());
        desk.url = proxy.url();
        Self { server, proxy, desk }
    }

    /// Starts a worker, and waits until it works.
    async fn worker(&self, arguments: &[&str]) -> Program {
        let program = worker(&self.desk, arguments).await;
        self.desk.quick(0).await.result(PATIENCE).await.unwrap();
        eventually("it is listed", || async { self.desk.client.workers().await.unwrap().pop() }).await;
        program
    }
}

/// Starts a worker, and waits until it has said what it says when all is well.
async fn worker(desk: &Desk, arguments: &[&str]) -> Program {
    let program = desk.worker(arguments).await;
    program.logs(" ready: ", 1).await;
    program
}

/// How long a task takes from now to its end.
async fn time_of_a_task(desk: &Desk) -> Duration {
    let began = Instant::now();
    // The client's own connection may have to be made anew, too.
    let handle = eventually("a task is accepted", || desk.try_quick(1)).await;
    eventually("a result comes", || async { handle.result(PATIENCE).await.ok() }).await;
    began.elapsed()
}

/// Asserts that work goes on in time.
async fn assert_works(desk: &Desk, program: &Program) {
    let took = time_of_a_task(desk).await;
    assert!(took < RETURN, "{took:?}\n{}", program.log());
}

/// The lines that tell of an outage.
fn outages(program: &Program) -> usize {
    program.lines("the store failed").len()
}

/// The lines that an operator sees as trouble.
fn troubles(program: &Program) -> Vec<String> {
    [" WARN ", "ERROR "].iter().flat_map(|level| program.lines(level)).filter(|line| !is_of_the_start(line)).collect()
}

/// A server of a test is not made to last.
fn is_of_the_start(line: &str) -> bool {
    line.contains("append-only persistence is off")
}

/// What a worker process uses while a fault lasts.
struct Use<'p> {
    program: &'p Program,
    cpu: Duration,
    lines: usize,
    began: Instant,
}

impl<'p> Use<'p> {
    fn of(program: &'p Program) -> Self {
        let lines = program.log().lines().count();
        Self { program, cpu: program.cpu(), lines, began: Instant::now() }
    }

    /// Asserts that it lived on, slept nearly all the time, and wrote few lines.
    fn assert_calm(&self, most_lines: usize) {
        let Self { program, cpu, lines, began } = self;
        assert!(!program.ended(), "it ended:\n{}", program.log());
        // A tenth of one processor, and something to begin with: this is an unoptimized build.
        let (used, passed) = (program.cpu() - *cpu, began.elapsed());
        assert!(used < passed / 10 + Duration::from_millis(150), "{used:?} of {passed:?}\n{}", program.log());
        let lines = program.log().lines().count() - lines;
        assert!(lines <= most_lines, "{lines} lines:\n{}", program.log());
    }
}
