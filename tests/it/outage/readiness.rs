//! Readiness: as a handle within the process, and as a file for probes.

use std::path::PathBuf;
use std::time::Duration;

use dtq_examples::Fault;
use dtq_tests::{TempDir, World, eventually, lasting, promptly};
use rusqlite::Connection;

use super::{Site, on_both_stores};
use crate::program::{PATIENCE, Program, run};
use crate::worker::{Bench, Probe};

#[dtq::task]
async fn takes_the_only_slot(#[state] probe: &Probe) {
    probe.note("inside");
    probe.gate().await;
}

async fn a_worker_is_ready_from_its_first_fetch_to_its_stop(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let mut readiness = worker.readiness();
    assert_eq!(promptly("it becomes ready", readiness.changed()).await, Some(true));
    assert!(readiness.is_ready() && worker.readiness().is_ready());
    takes_the_only_slot::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("inside", 1).await;
    let stop = tokio::spawn(worker.stop());
    assert_eq!(promptly("it stops", readiness.changed()).await, Some(false));
    assert!(!readiness.is_ready() && !stop.is_finished(), "not ready while it drains");
    b.probe.open(1);
    stop.await.unwrap();
    assert_eq!(readiness.changed().await, None);
}

/// It fetches nothing because it has no room: that is no reason to send it away.
async fn a_worker_whose_slots_are_taken_stays_ready(w: &World) {
    let b = Bench::new(w);
    let threshold = Duration::from_millis(200);
    let worker = b.worker_with(Bench::config().concurrency(1).ready_threshold(threshold)).await;
    takes_the_only_slot::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("inside", 1).await;
    let mut readiness = worker.readiness();
    assert_eq!(promptly("it becomes ready", readiness.changed()).await, Some(true));
    let changed = tokio::time::timeout(threshold * 4, readiness.changed()).await;
    assert!(changed.is_err(), "{changed:?}");
    b.probe.open(1);
    worker.stop().await;
}

on_both_stores! {
    a_worker_is_ready_from_its_first_fetch_to_its_stop,
    a_worker_whose_slots_are_taken_stays_ready,
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_a_file_that_stays_locked_ends_readiness() {
    let w = World::sqlite().await;
    let b = Bench::new(&w);
    let worker = b.worker_with(Bench::config().ready_threshold(Duration::from_millis(200))).await;
    let mut readiness = worker.readiness();
    assert_eq!(promptly("it becomes ready", readiness.changed()).await, Some(true));
    let other = Connection::open(w.file()).unwrap();
    eventually("the lock is free", || async { other.execute_batch("BEGIN IMMEDIATE").ok() }).await;
    assert_eq!(promptly("it cannot fetch", readiness.changed()).await, Some(false));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(promptly("it fetches again", readiness.changed()).await, Some(true));
    worker.stop().await;
}

/// A ready file, stale from a worker that was killed.
struct File {
    _dir: TempDir,
    path: PathBuf,
}

impl File {
    fn stale() -> Self {
        let dir = TempDir::new();
        let path = dir.path().join("ready");
        std::fs::write(&path, "stale").unwrap();
        Self { _dir: dir, path }
    }

    fn arguments(&self) -> [&str; 4] {
        ["--ready-threshold", "500ms", "--ready-file", self.path.to_str().unwrap()]
    }

    async fn exists(&self, wanted: bool) {
        let state = || async { (self.path.exists() == wanted).then_some(()) };
        eventually(&format!("that the file exists is {wanted}"), state).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_exists_exactly_while_the_worker_is_ready() {
    let site = Site::new().await;
    let file = File::stale();
    site.proxy.set(Fault::Refuse);
    let program = site.desk.worker(&file.arguments()).await;
    assert!(!file.path.exists(), "a stale file is removed before anything else");
    site.proxy.set(Fault::None);
    file.exists(true).await;
    for outage in [Fault::BlackHole, Fault::Refuse] {
        site.proxy.set(outage);
        file.exists(false).await;
        site.proxy.set(Fault::None);
        file.exists(true).await;
    }
    assert_eq!(program.lines("not ready:").len(), 2, "{}", program.log());
    program.logs(" ready: ", 3).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    program.signal("TERM");
    file.exists(false).await;
    assert!(!program.ended(), "it drains still");
    site.desk.release();
    assert_eq!(program.exits().await.0, Some(0));
    assert!(!file.path.exists());
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_outage_does_not_end_readiness() {
    let site = Site::new().await;
    let file = File::stale();
    let program = site.worker(&["--ready-file", file.path.to_str().unwrap()]).await;
    file.exists(true).await;
    site.proxy.set(Fault::Refuse);
    program.logs("the store failed", 1).await;
    lasting(Duration::from_secs(1)).await;
    assert!(file.path.exists());
    site.proxy.set(Fault::None);
    program.logs("the store works again", 1).await;
    assert!(program.lines("not ready:").is_empty(), "{}", program.log());
}

#[tokio::test]
async fn the_file_may_be_named_in_the_environment_and_in_the_settings_file() {
    let file = File::stale();
    let _program = Program::start(Program::command(&[]).env("DTQ_READY_FILE", &file.path));
    file.exists(true).await;
    let dir = TempDir::new();
    let path = dir.path().join("named-in-toml");
    std::fs::write(dir.path().join("dtq.toml"), "ready-file = \"named-in-toml\"\nready-threshold = \"5s\"\n").unwrap();
    let _other = Program::start_in(dir, &mut Program::command(&[]));
    eventually("the file is there", || async { path.exists().then_some(()) }).await;
}

#[test]
fn a_file_that_cannot_be_made_and_a_threshold_of_nothing_are_refused_at_the_start() {
    let ended = run(&mut Program::command(&["--ready-file", "missing/ready"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--ready-file") && ended.err.contains("missing/ready"), "{}", ended.err);
    let ended = run(Program::command(&[]).env("DTQ_READY_THRESHOLD", "0s"));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("DTQ_READY_THRESHOLD"), "{}", ended.err);
}
