//! What happens to a SQLite file under a worker that has it open, or wants to open it.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dtq::Client;
use dtq_tests::{TempDir, World, eventually, lasting, task};
use rusqlite::Connection;

use super::sqlite_shared::assert_sound;
use super::{Use, assert_works, outages, troubles, worker};
use crate::program::{Desk, PATIENCE, Program};

async fn lock(conn: &Connection) {
    eventually("the lock is free", || async { conn.execute_batch("BEGIN IMMEDIATE").ok() }).await;
}

/// Longer than the busy timeout, which is 5 s.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_held_for_long_is_told_once_and_costs_no_task() {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let program = worker(&desk, &[]).await;
    let slow = desk.enqueue::<u32>("slow").await;
    desk.tells("started 1").await;
    let watch = Use::of(&program);
    let other = Connection::open(w.file()).unwrap();
    lock(&other).await;
    desk.release();
    lasting(Duration::from_millis(5500)).await;
    watch.assert_calm(1);
    let error = desk.client.enqueue_raw(vec![task("quick").build()]).await.unwrap_err().to_string();
    assert!(error.contains("shorten its transactions") && error.contains("dtq.db"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_works(&desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    program.logs("the store works again", 1).await;
    assert_eq!((desk.told().len(), outages(&program)), (1, 1), "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn short_locks_a_long_reader_and_vacuum_are_no_trouble() {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let program = worker(&desk, &[]).await;
    let reader = Connection::open(w.file()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM tasks").unwrap();
    let other = Connection::open(w.file()).unwrap();
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    for round in 0..5 {
        let naps = desk.naps(round * 100, 100, 1).await;
        lock(&other).await;
        lasting(Duration::from_millis(100)).await;
        other.execute_batch("COMMIT; VACUUM").unwrap();
        for handle in naps {
            handle.result(PATIENCE).await.unwrap();
        }
    }
    for n in 0..500 {
        assert_eq!(desk.count(&format!("ran {n}")), 1, "task {n}");
    }
    assert_eq!(troubles(&program), [""; 0]);
    // What the reader held back is cut off once it has ended.
    reader.execute_batch("COMMIT").unwrap();
    let log = w.file().with_file_name("dtq.db-wal");
    assert!(std::fs::metadata(log).unwrap().len() < 80 << 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_moved_away_is_told_once_and_worked_on_when_it_is_back() {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let program = worker(&desk, &[]).await;
    let slow = desk.enqueue::<u32>("slow").await;
    desk.tells("started 1").await;
    let watch = Use::of(&program);
    let aside = w.file().with_file_name("aside.db");
    std::fs::rename(w.file(), &aside).unwrap();
    program.logs("deleted, moved or replaced while it was open", 1).await;
    let error = desk.client.enqueue_raw(vec![task("quick").build()]).await.unwrap_err().to_string();
    assert!(error.contains("put it back, or restart this process"), "{error}");
    desk.release();
    lasting(Duration::from_millis(1500)).await;
    watch.assert_calm(1);
    assert!(!w.file().exists(), "no new, empty file takes its place");
    std::fs::rename(&aside, w.file()).unwrap();
    assert_works(&desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(desk.told().len(), 1);
}

/// Starts a worker that must refuse this file, and say so.
async fn refused(command: &mut Command, path: &Path, words: &str) {
    let program = Program::start(command.env("DTQ_URL", format!("sqlite:{}", path.display())));
    let (code, _) = program.exits().await;
    let log = program.log();
    assert_eq!(code, Some(2), "{log}");
    assert!(log.contains(&*path.to_string_lossy()) && log.contains(words), "{log}");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_at_the_start() {
    let dir = TempDir::new();
    refused(&mut Program::command(&[]), &dir.path().join("missing/dtq.db"), "check that its directory exists").await;
    let garbage = dir.path().join("garbage.db");
    std::fs::write(&garbage, "garbage ".repeat(1000)).unwrap();
    refused(&mut Program::command(&[]), &garbage, "choose another path").await;
    let file = whole_file(dir.path(), 10).await;
    for (path, mode) in [(&*file, 0o444), (dir.path(), 0o555)] {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    refused(&mut as_anybody(), &file, "must be writable").await;
    // So that it can be removed.
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
}

/// The worker program as a user whom file modes hold back.
fn as_anybody() -> Command {
    let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_e2e_worker")];
    if root { Program::command_of("setpriv", &nobody) } else { Program::command(&[]) }
}

/// A file with so many tasks in it, and nothing in its log.
async fn whole_file(dir: &Path, tasks: usize) -> std::path::PathBuf {
    let path = dir.join("whole.db");
    let client = Client::connect(&format!("sqlite:{}", path.display())).unwrap();
    let quick = || task("quick").payload(r#"{"n":1}"#).build();
    client.enqueue_raw((0..tasks).map(|_| quick()).collect()).await.unwrap();
    drop(client);
    let conn = Connection::open(&path).unwrap();
    eventually("the log is written back", || async {
        let busy: i64 = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0)).ok()?;
        (busy == 0).then_some(())
    })
    .await;
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_overwritten_is_told_once_and_is_no_reason_to_spin() {
    let dir = TempDir::new();
    let path = whole_file(dir.path(), 2000).await;
    let mut bytes = std::fs::read(&path).unwrap();
    // All but the first pages, which hold what the file is and its queues.
    let from = bytes.len() / 4 / 4096 * 4096;
    bytes[from..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let desk = Desk::at(format!("sqlite:{}", path.display()));
    let program = desk.worker(&[]).await;
    program.logs("malformed", 1).await;
    let watch = Use::of(&program);
    lasting(Duration::from_millis(1500)).await;
    watch.assert_calm(1);
    let error = desk.client.enqueue_raw(vec![task("quick").build()]).await.unwrap_err().to_string();
    assert!(error.contains("malformed") && error.contains("whole.db"), "{error}");
}

/// A small disk of one's own needs rights that not every machine gives; a bound on the size of files is everybody's.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_file_cannot_grow_loses_nothing_and_goes_on_when_it_can() {
    let w = World::sqlite().await;
    let desk = Desk::new(&w);
    let naps = desk.naps(0, 200, 1).await;
    let log = std::fs::metadata(w.file().with_file_name("dtq.db-wal")).unwrap().len();
    let bound = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" --lease 1s", (log + 64 * 1024) / 512);
    let program = env!("CARGO_BIN_EXE_e2e_worker");
    let bounded = Program::start(Program::command_of("/bin/sh", &["-c", &bound, program]).env("DTQ_URL", &desk.url));
    bounded.logs("the store failed", 1).await;
    let watch = Use::of(&bounded);
    lasting(Duration::from_secs(2)).await;
    watch.assert_calm(1);
    let error = bounded.lines("the store failed").remove(0);
    assert!(error.contains("dtq.db") && error.contains("disk"), "{error}");
    bounded.kill();
    let _other = desk.worker(&["--lease", "1s"]).await;
    // What the first one could not settle was leased to it.
    for handle in naps {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_sound(&w.file());
}
