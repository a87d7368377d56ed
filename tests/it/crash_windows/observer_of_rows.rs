//! The same on SQLite: whoever looks at the file while tasks go their ways finds each transaction whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dtq_tests::{World, promptly, task};
use rusqlite::Connection;
use tokio::task::JoinSet;

use super::observer::{LOOKS, TASKS, traffic};

/// What the rows say, counted in one read transaction. The codes of statuses are those of `row.rs`.
const LOOK: &str = "SELECT
    (SELECT count(*) FROM tasks), (SELECT count(*) FROM tasks WHERE status = 3),
    (SELECT count(*) FROM tasks WHERE status = 4), (SELECT count(*) FROM tasks WHERE status = 5),
    (SELECT count(*) FROM tasks WHERE status = 6), (SELECT count(*) FROM tasks WHERE status = 8),
    (SELECT count(*) FROM tasks WHERE result IS NOT NULL),
    (SELECT count(*) FROM tasks WHERE status = 6 AND CAST(CAST(payload AS TEXT) AS INTEGER) % 4 = 0),
    (SELECT count(*) FROM attempts), (SELECT coalesce(max(upto), 0) FROM events),
    queued, running, retrying, succeeded, dead_lettered FROM queues";

/// Looks once; gives how many tasks are running and how many have ended, or wait for a retry.
fn look(file: &Connection) -> (i64, i64) {
    let numbers =
        |row: &rusqlite::Row<'_>| (0..15).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<i64>>>();
    let seen = file.query_row(LOOK, (), numbers).unwrap();
    let [all, queued, running, retrying, succeeded, dead, results, with_result, attempts, events] = seen[..10] else {
        panic!("{seen:?}")
    };
    assert_eq!(seen[10..], [queued, running, retrying, succeeded, dead], "the queue's counts are those of its rows");
    let settled = retrying + succeeded + dead;
    assert_eq!(all, queued + running + settled);
    assert_eq!(results, with_result, "a result is there with its status");
    assert_eq!(attempts, retrying + dead, "a failed attempt is noted with the status it led to");
    assert_eq!(events, all + running + 2 * settled, "accepted, started and settled are told with the step itself");
    (running, settled)
}

async fn round(w: &World) -> usize {
    let file = Connection::open(w.file()).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let told = done.clone();
    let before = look(&file).1;
    let observer = std::thread::spawn(move || {
        let mut halfway = 0;
        while !told.load(Ordering::Acquire) {
            let settled = look(&file).1 - before;
            halfway += usize::from((1..i64::try_from(TASKS).unwrap()).contains(&settled));
        }
        assert_eq!(look(&file), (0, before + i64::try_from(TASKS).unwrap()));
        halfway
    });
    let tasks: Vec<_> = (0..TASKS).map(|n| task("a").payload(n.to_string()).build()).collect();
    let mut workers = JoinSet::new();
    for (n, tasks) in tasks.chunks(TASKS / 4).enumerate() {
        workers.spawn(traffic(w.store(), format!("w{n}"), tasks.to_vec()));
    }
    promptly("the tasks go their ways", workers.join_all()).await;
    done.store(true, Ordering::Release);
    observer.join().unwrap()
}

pub(super) async fn within_enqueue_claim_and_settle_nothing_can_be_seen(w: &World) {
    // The queue has its row before anybody looks at it.
    let first = w.running(task("a").payload("0")).await;
    w.succeed(&first).await;
    let mut looks = 0;
    for n in 0.. {
        looks += round(w).await;
        if looks >= LOOKS {
            return;
        }
        assert!(n < 200, "it looked only {looks} times in the midst of {n} rounds");
    }
}
