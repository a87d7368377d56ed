//! A disk that is full. The test runs its child in a place where it may mount a small one: as root, or in a user
//! namespace of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dtq::store::sqlite::{SqliteOptions, SqliteStore};
use dtq::store::{Settlement, Store, StoreError, Verdict};
use dtq::types::{NewTask, Status};
use dtq_tests::{TempDir, queue, task, want};

use super::sqlite_shared::assert_sound;

const DISK: &str = "DTQ_TEST_SMALL_DISK";

/// Runs the child on a disk of 1 MiB, by these words before the shell's.
fn on_a_small_disk(before: &[&str]) -> Output {
    let dir = TempDir::new();
    let script = "mount -t tmpfs -o size=1m none \"$1\" || exit 77; \"$0\" outage::sqlite_disk::child_on_a_small_disk \
                  --exact --ignored --nocapture; code=$?; umount \"$1\"; exit $code";
    let program = std::env::current_exe().unwrap();
    let words = [before, &["sh", "-c", script]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(program).arg(dir.path()).env(DISK, dir.path());
    command.output().unwrap()
}

#[test]
fn a_full_disk_is_a_clear_refusal_that_costs_no_task() {
    for before in [&["unshare", "--user", "--map-root-user", "--mount"][..], &[]] {
        let output = on_a_small_disk(before);
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        // Neither may be allowed here; another test then bounds the size of the file instead.
        if output.status.success() {
            assert!(said.contains("1 passed"), "{said}");
            return;
        }
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Not a test by itself: what the child does.
#[tokio::test]
#[ignore = "started by another test"]
async fn child_on_a_small_disk() {
    // Nothing to do when somebody runs all ignored tests.
    let Some(dir) = std::env::var_os(DISK).map(PathBuf::from) else { return };
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![0; 512 * 1024]).unwrap();
    let store = SqliteStore::open(dir.join("dtq.db"), SqliteOptions::default()).unwrap();
    let mut accepted = Vec::new();
    let error = loop {
        let new = task("a").payload("x".repeat(3000)).build();
        match store.enqueue(vec![new.clone()]).await {
            Ok(_) => accepted.push(new.id),
            Err(error) => {
                assert_eq!(store.get(&new.id).await.unwrap(), None, "what was refused is not there");
                break error;
            }
        }
    };
    assert_full(&error, "enqueue", &dir);
    assert!(accepted.len() > 10);
    assert_eq!(store.stats(&queue("default")).await.unwrap().queued, accepted.len() as u64);
    nothing_is_half_claimed(&store, &dir, accepted.len()).await;
    std::fs::remove_file(ballast).unwrap();
    works_to_the_end(&store, accepted.len()).await;
    drop(store);
    assert_sound(&dir.join("dtq.db"));
}

fn assert_full(error: &StoreError, operation: &str, dir: &Path) {
    assert!(matches!(error, StoreError::Refused { .. }) && error.is_transient(), "{error:?}");
    let text = error.to_string();
    for wanted in [operation, "full", "free some disk space", &dir.to_string_lossy()] {
        assert!(text.contains(wanted), "{wanted:?} is not in: {text}");
    }
}

/// A claim is refused, or it holds; whichever it is, tasks and counts agree.
async fn nothing_is_half_claimed(store: &SqliteStore, dir: &Path, tasks: usize) {
    let mut claimed = 0;
    while claimed < tasks {
        match store.claim(want(1)).await {
            Ok(answer) => claimed += answer.deliveries.len(),
            Err(error) => {
                assert_full(&error, "claim", dir);
                break;
            }
        }
    }
    let stats = store.stats(&queue("default")).await.unwrap();
    assert_eq!((stats.running, stats.queued), (claimed as u64, (tasks - claimed) as u64));
}

async fn works_to_the_end(store: &SqliteStore, tasks: usize) {
    // The space may be taken by the log at first; it is given back bit by bit.
    let fresh: NewTask = task("b").build();
    store.enqueue(vec![fresh.clone()]).await.unwrap();
    let left = store.claim(want(128)).await.unwrap().deliveries;
    assert!(left.iter().any(|delivery| delivery.lease.task == fresh.id), "{} of {tasks}", left.len());
    for delivery in left {
        let id = delivery.lease.task.clone();
        let settlement = Settlement { delivery, verdict: Verdict::Succeeded { result: None } };
        store.settle(vec![settlement]).await.unwrap();
        assert_eq!(store.get(&id).await.unwrap().unwrap().status, Status::Succeeded);
    }
}
