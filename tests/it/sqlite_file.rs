//! What the embedded store does with its file. These look at the file, or at raw rows.

use std::path::Path;
use std::time::Duration;

use dtq::store::sqlite::{SqliteOptions, SqliteStore};
use dtq::store::{Store, StoreError};
use dtq::types::Status;
use dtq_tests::{LEASE, RETENTION, TempDir, World, eventually, promptly, task, want};
use rusqlite::Connection;

/// The error of opening a file that cannot be used.
fn refusal(path: &Path) -> StoreError {
    match SqliteStore::open(path, SqliteOptions::default()) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

fn assert_unusable(path: &Path) {
    let error = refusal(path);
    assert!(matches!(error, StoreError::Unusable { .. }) && !error.is_transient(), "{error:?}");
    assert!(error.to_string().contains(&*path.to_string_lossy()), "it names the file: {error}");
}

#[tokio::test]
async fn a_reopened_file_still_holds_everything() {
    let w = World::sqlite().await;
    let mut ids = Vec::new();
    for status in Status::ALL {
        ids.push(w.bring(status, task("a").queue(&format!("q-{status}")).retention(RETENTION * 10)).await.id);
    }
    let mut before = Vec::new();
    for id in &ids {
        before.push((w.snapshot(id).await, w.events_of(id).await));
    }
    let w = w.reopened().await;
    for (id, before) in ids.iter().zip(before) {
        assert_eq!((w.snapshot(id).await, w.events_of(id).await), before);
    }
}

#[tokio::test]
async fn a_lease_outlives_the_process_that_granted_it() {
    let w = World::sqlite().await;
    let held = w.running(task("a")).await;
    let w = w.reopened().await;
    assert_eq!(w.renew(&[&held.lease]).await, [dtq::store::Renewed::Held]);
    w.succeed(&held).await;
}

#[tokio::test]
async fn a_released_token_is_not_granted_again_after_a_reopening() {
    let w = World::sqlite().await;
    let first = w.running(task("a")).await;
    w.release(&first).await;
    let w = w.reopened().await;
    assert_ne!(w.claim_one().await.lease.token, first.lease.token);
}

#[tokio::test]
async fn a_task_cannot_have_a_second_row() {
    let w = World::sqlite().await;
    let held = w.running(task("a")).await;
    let file = Connection::open(w.file()).unwrap();
    let names = "queue, uuid, status, key, token, settled, attempt, priority, started_at, finished_at, enqueued_at, \
                 max_attempts, timeout_ms, retention_ms, dead_letter, ttl_ms, cancel_reason, name, payload, result";
    let copy = file.execute(&format!("INSERT INTO tasks ({names}) SELECT {names} FROM tasks"), ()).unwrap_err();
    assert!(copy.to_string().contains("UNIQUE constraint failed: tasks.queue, tasks.uuid"), "{copy}");
    assert!(w.sweep(10).await.is_empty());
    w.succeed(&held).await;
}

#[tokio::test]
async fn a_missing_directory_is_an_error_that_names_the_path() {
    let dir = TempDir::new();
    assert_unusable(&dir.path().join("missing").join("dtq.db"));
    assert!(!dir.path().join("missing").exists(), "a directory was made behind the user's back");
}

#[tokio::test]
async fn a_directory_is_not_a_file() {
    let dir = TempDir::new();
    assert_unusable(dir.path());
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_an_error() {
    // The tests may run as root, whom file modes do not stop; /proc does.
    assert_unusable(Path::new("/proc/dtq.db"));
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_and_left_alone() {
    let dir = TempDir::new();
    let path = dir.path().join("notes.txt");
    let text = "not a database, but somebody's notes\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert_unusable(&path);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let dir = TempDir::new();
    let path = dir.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE tasks (id INTEGER); PRAGMA user_version = 1").unwrap();
    let before = std::fs::read(&path).unwrap();
    assert_unusable(&path);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let w = World::sqlite().await;
    w.enqueue(task("a")).await;
    Connection::open(w.file()).unwrap().execute_batch("PRAGMA user_version = 9999").unwrap();
    let error = refusal(&w.file());
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert!(error.to_string().contains("9999"), "{error}");
}

/// Writes the file anew, as the first version would have.
fn make_version_1(path: &Path) {
    let conn = Connection::open(path).unwrap();
    let tables = ["queues", "tasks", "attempts", "events"];
    for table in tables {
        conn.execute_batch(&format!("CREATE TEMP TABLE old_{table} AS SELECT * FROM main.{table}")).unwrap();
    }
    let all = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let names = |sql: &str| -> Vec<String> {
        conn.prepare(sql).unwrap().query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for table in names(all) {
        conn.execute_batch(&format!("DROP TABLE main.{table}")).unwrap();
    }
    conn.execute_batch(include_str!("../../dtq/src/store/sqlite/schema.sql")).unwrap();
    for table in tables {
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM old_{table}");
        conn.execute_batch(&copy).unwrap();
    }
    conn.execute_batch("PRAGMA user_version = 1").unwrap();
}

#[tokio::test]
async fn nothing_is_left_when_the_retention_is_over() {
    for retention in [Duration::ZERO, RETENTION] {
        let w = World::sqlite().await;
        w.every_end_and_after(retention).await;
        let file = Connection::open(w.file()).unwrap();
        for table in ["tasks", "attempts", "notes", "log", "stops"] {
            let rows: i64 = file.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| row.get(0)).unwrap();
            assert_eq!(rows, 0, "{table}, retention {retention:?}");
        }
    }
}

#[tokio::test]
async fn a_file_of_version_1_keeps_what_runs_in_it() {
    let w = World::sqlite().await;
    let held = w.running(task("a")).await;
    let lost = w.running(task("b")).await;
    let waiting = w.enqueue(task("c")).await;
    make_version_1(&w.file());
    let w = w.reopened().await;
    w.advance(LEASE / 2);
    assert_eq!(w.renew(&[&held.lease]).await, [dtq::store::Renewed::Held]);
    assert_eq!(w.claim_one().await.lease.task, waiting);
    w.advance(LEASE / 2 + Duration::from_secs(1));
    let taken = w.sweep(10).await;
    assert_eq!(taken.iter().map(|it| &it.lease.task).collect::<Vec<_>>(), [&lost.lease.task]);
    let failure = w.record(&lost.lease.task).await.attempts.remove(0).failure;
    assert_eq!(failure.message, "worker of an unknown name died or was paused longer than its lease");
    w.succeed(&held).await;
    w.succeed(&taken[0]).await;
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_not_a_panic() {
    let w = World::sqlite().await;
    w.enqueue_many(500, || task("a").payload("x".repeat(200))).await;
    let path = w.file();
    let copy = path.with_file_name("copy.db");
    Connection::open(&path).unwrap().execute("VACUUM INTO ?1", [copy.to_string_lossy()]).unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    // Every page but the first, which tells what the file is.
    bytes[4096..].fill(0xa5);
    std::fs::write(&copy, bytes).unwrap();
    let error = match SqliteStore::open(&copy, SqliteOptions::default()) {
        Err(error) => error,
        Ok(store) => {
            let claimed = store.claim(want(10)).await;
            claimed.err().or(store.enqueue(vec![task("a").build()]).await.err()).expect("an error")
        }
    };
    assert!(!error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn another_programs_write_lock_is_a_transient_refusal() {
    let w = World::sqlite().await;
    let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
    let store = SqliteStore::open(w.file(), options).unwrap();
    let other = Connection::open(w.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let new = task("a").build();
    let error = promptly("the call gives up", store.enqueue(vec![new.clone()])).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }) && error.is_transient(), "{error:?}");
    other.execute_batch("COMMIT").unwrap();
    assert!(store.enqueue(vec![new]).await.unwrap()[0].created);
}

#[tokio::test]
async fn a_long_reader_blocks_nobody() {
    let w = World::sqlite().await;
    w.enqueue(task("a")).await;
    let reader = Connection::open(w.file()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |sql: &str| reader.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM tasks"), 1);
    let delivery = w.claim_one().await;
    w.succeed(&delivery).await;
    w.enqueue(task("b")).await;
    assert_eq!(count("SELECT count(*) FROM tasks"), 1, "the reader sees its own moment");
}

#[tokio::test]
async fn raw_rows_nothing_is_left_of_drained_tasks_without_retention() {
    let w = World::sqlite().await;
    w.enqueue_many(200, || task("a").retention(Duration::ZERO)).await;
    for (n, delivery) in w.drain(want(64)).await.iter().enumerate() {
        match n % 4 {
            0 => w.drop_task(delivery).await,
            1 => w.retry(delivery, Duration::ZERO).await,
            2 => w.release(delivery).await,
            _ => w.succeed(delivery).await,
        }
    }
    for delivery in w.drain(want(64)).await {
        w.succeed(&delivery).await;
    }
    assert_eq!(rows(&w, "tasks"), 0);
    assert_eq!(rows(&w, "attempts"), 0);
}

#[tokio::test]
async fn raw_rows_finished_tasks_are_removed_once_their_retention_is_over() {
    let w = World::sqlite().await;
    for _ in 0..20 {
        let delivery = w.running(task("a").retention(Duration::from_secs(60))).await;
        w.succeed(&delivery).await;
    }
    assert_eq!(rows(&w, "tasks"), 20);
    w.advance(Duration::from_secs(61));
    eventually("the rows are gone", || async {
        // Whatever cleans up may do so in any of the verbs.
        let delivery = w.running(task("b").retention(Duration::ZERO)).await;
        w.succeed(&delivery).await;
        w.advance(Duration::from_secs(60));
        (rows(&w, "tasks") == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn raw_rows_the_event_log_is_bounded() {
    let w = World::sqlite().await;
    let options = SqliteOptions { event_log: 100, ..SqliteOptions::default() };
    let store = SqliteStore::open(w.file(), options).unwrap();
    for _ in 0..400 {
        store.enqueue(vec![task("a").build()]).await.unwrap();
    }
    let length = w.events(&[dtq_tests::queue("default")]).await.len();
    assert!((100..=300).contains(&length), "{length} events are kept");
}

#[tokio::test]
async fn the_file_is_sound_after_a_busy_life() {
    let w = World::sqlite().await;
    let second = w.second_store().await;
    w.enqueue_many(300, || task("a").payload("x".repeat(1000))).await;
    let workers = [w.store(), second].map(|store| {
        tokio::spawn(async move {
            while store.claim(want(20)).await.unwrap().more {
                store.enqueue(vec![task("b").retention(Duration::ZERO).build()]).await.unwrap();
            }
        })
    });
    for worker in workers {
        promptly("a worker ends", worker).await.unwrap();
    }
    let conn = Connection::open(w.file()).unwrap();
    let verdict: String = conn.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

#[tokio::test]
async fn memory_is_one_store_per_opening() {
    let open = || SqliteStore::open(":memory:", SqliteOptions::default()).unwrap();
    let (one, two) = (open(), open());
    let new = task("a").build();
    one.enqueue(vec![new.clone()]).await.unwrap();
    assert_eq!(one.claim(want(1)).await.unwrap().deliveries.len(), 1);
    assert_eq!(two.get(&new.id).await.unwrap(), None);
    assert_eq!(one.dedicated().await.unwrap().get(&new.id).await.unwrap().unwrap().status, Status::Running);
    assert!(!Path::new(":memory:").exists());
}

#[tokio::test]
async fn odd_paths_are_paths() {
    let dir = TempDir::new();
    for name in ["with space.db", "é🦀.db", "file:odd?mode=ro.db", "100%.db", "a'b\"c.db"] {
        let path = dir.path().join(name);
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        store.enqueue(vec![task("a").build()]).await.unwrap();
        assert!(path.exists(), "{name}");
    }
}

fn rows(w: &World, table: &str) -> i64 {
    let conn = Connection::open(w.file()).unwrap();
    conn.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| row.get(0)).unwrap()
}
