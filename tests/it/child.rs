//! Processes that tests start and kill: this very test binary, running [`child_process`] only.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::sqlite::{SqliteOptions, SqliteStore};
use dtq::store::{Claim, Settlement, Store, Verdict};
use dtq_tests::{World, task, want};

const PLACE: &str = "DTQ_TEST_CHILD_STORE";
const ROLE: &str = "DTQ_TEST_CHILD_ROLE";

/// What a child does until it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Enqueues one task after the other and tells of each that was accepted.
    Produce,
    /// Claims and settles until nothing is left, and tells of each task that it settled.
    Work,
    /// Claims three tasks, tells of them, and does nothing more.
    Hold,
}

/// A running child; killed (with signal 9) when dropped.
pub(crate) struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a child on a world's store.
    pub(crate) fn start(w: &World, role: Role) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::child_process", "--exact", "--ignored", "--nocapture"])
            .env(PLACE, w.place())
            .env(ROLE, format!("{role:?}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next task that it tells of; `None` when it has ended.
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            // The test runner's own words may stand before ours.
            if let Some((_, told)) = line.trim_end().split_once('@') {
                return Some(told.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Kills it in the midst of its work, and gives what it still had told of.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest: Vec<String> = std::iter::from_fn(|| self.next()).collect();
        // The last line may be cut.
        rest.retain(|id| id.parse::<dtq::types::TaskId>().is_ok());
        rest
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(clippy::print_stdout, reason = "this is how it tells its parent")]
fn tell(id: &dtq::types::TaskId) {
    println!("@{id}");
}

fn open(place: &str) -> Arc<dyn Store> {
    if place.starts_with("redis:") {
        Arc::new(RedisStore::connect(place, RedisOptions::default()).unwrap())
    } else {
        Arc::new(SqliteStore::open(place, SqliteOptions::default()).unwrap())
    }
}

/// Not a test: what a child runs.
#[tokio::test]
#[ignore = "started by other tests"]
async fn child_process() {
    // Nothing to do when somebody runs all ignored tests.
    let (Ok(place), Ok(role)) = (std::env::var(PLACE), std::env::var(ROLE)) else { return };
    let store = open(&place);
    match role.as_str() {
        "Produce" => produce(store.as_ref()).await,
        "Work" => work(store.as_ref()).await,
        _ => hold(store.as_ref()).await,
    }
}

async fn produce(store: &dyn Store) {
    loop {
        for accepted in store.enqueue(vec![task("a").build()]).await.unwrap() {
            tell(&accepted.id);
        }
    }
}

async fn work(store: &dyn Store) {
    let worker = dtq::types::WorkerId::random();
    loop {
        let claimed = store.claim(Claim { worker: worker.clone(), ..want(5) }).await.unwrap();
        if claimed.deliveries.is_empty() && !claimed.more {
            return;
        }
        for delivery in claimed.deliveries {
            let id = delivery.lease.task.clone();
            let verdict = Verdict::Succeeded { result: Some("1".into()) };
            store.settle(vec![Settlement { delivery, verdict }]).await.unwrap();
            tell(&id);
        }
    }
}

async fn hold(store: &dyn Store) {
    for delivery in store.claim(want(3)).await.unwrap().deliveries {
        tell(&delivery.lease.task);
    }
    std::future::pending::<()>().await;
}
