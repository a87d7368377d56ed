//! What is particular to this store; the shared contract is checked by the conformance suite.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use uuid::Uuid;

use super::errors::Fault;
use super::*;
use crate::clock::{Clock, ManualClock};
use crate::store::Verdict;
use crate::types::{Delivery, ErrorKind, EventCursor, EventKind, Failure, Policy, Status};

/// A directory that is removed at the end of its test.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        let dir = std::env::temp_dir().join(format!("dtq-sqlite-{}", Uuid::new_v4().simple()));
        std::fs::create_dir(&dir).unwrap();
        Self(dir)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join("tasks.db")
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file(), SqliteOptions::default()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn queue() -> QueueName {
    QueueName::new("q").unwrap()
}

fn task() -> NewTask {
    NewTask::new(TaskId::generate(queue()), "work", &b"{}"[..])
}

fn claim(max: usize) -> Claim {
    let worker = WorkerId::named("w");
    Claim {
        queue: queue(),
        worker,
        max,
        lease: Duration::from_secs(30),
        silence: Duration::from_secs(30),
        sweep: true,
        holding: None,
        watch: false,
    }
}

async fn one(store: &SqliteStore) -> Delivery {
    store.claim(claim(1)).await.unwrap().deliveries.remove(0)
}

async fn settle(store: &SqliteStore, delivery: &Delivery, verdict: Verdict) -> Settled {
    store.settle(vec![Settlement { delivery: delivery.clone(), verdict }]).await.unwrap()[0]
}

fn by_hand() -> (SqliteStore, ManualClock) {
    let clock = ManualClock::new();
    let options = SqliteOptions { clock: Clock::Manual(clock.clone()), ..SqliteOptions::default() };
    (SqliteStore::in_memory(options).unwrap(), clock)
}

#[tokio::test]
async fn a_failing_job_spoils_only_itself() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let good: Vec<_> = (0..3).map(|_| task()).collect();
    // The writer sleeps in the first job, so the others surely share its transaction.
    let slow = store.submit("test", |_| {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    });
    let before = store.enqueue(vec![good[0].clone()]);
    let spoiled = task();
    let id = spoiled.id.clone();
    let bad = store.write("test", move |txn| {
        enqueue::run(txn, std::slice::from_ref(&spoiled))?;
        Err::<(), _>(Fault::Data("no".into()))
    });
    let after = store.enqueue(good[1..].to_vec());
    let (before, bad, after) = tokio::join!(before, bad, after);
    slow.unwrap().await.unwrap().unwrap();
    assert!(before.unwrap()[0].created && after.unwrap().iter().all(|accepted| accepted.created));
    assert!(matches!(bad, Err(StoreError::Corrupt { .. })));
    assert_eq!(store.get(&id).await.unwrap(), None);
    assert_eq!(store.stats(&queue()).await.unwrap().queued, 3);
}

#[tokio::test]
async fn who_looks_without_room_wakes_another() {
    let (store, _) = by_hand();
    store.enqueue(vec![task()]).await.unwrap();
    let ears = store.inner.signals.listen(&[queue()]);
    store.claim(claim(0)).await.unwrap();
    assert_eq!(ears.hear().now_or_never(), Some(signals::Heard::Task));
    one(&store).await;
    let ears = store.inner.signals.listen(&[queue()]);
    store.claim(claim(0)).await.unwrap();
    assert_eq!(ears.hear().now_or_never(), None, "nothing is ready");
}

#[tokio::test]
async fn another_handle_s_enqueue_wakes_a_waiter() {
    let scratch = Scratch::new();
    let (waiting, other) = (scratch.open(), scratch.open());
    for _ in 0..5 {
        let wait = Wait { queues: vec![queue()], timeout: Duration::from_secs(10) };
        let waiter = tokio::spawn({
            let waiting = waiting.clone();
            async move { waiting.wait(wait).await.map(|()| Instant::now()) }
        });
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert!(!waiter.is_finished());
        other.enqueue(vec![task()]).await.unwrap();
        let enqueued = Instant::now();
        let woken = waiter.await.unwrap().unwrap();
        // About 3 ms as a rule; the bound leaves room for a busy machine.
        assert!(woken.saturating_duration_since(enqueued) < Duration::from_secs(1));
        let delivery = one(&waiting).await;
        assert!(matches!(settle(&waiting, &delivery, Verdict::Succeeded { result: None }).await, Settled::Applied(_)));
    }
}

#[tokio::test]
async fn tasks_outlive_their_handle() {
    let scratch = Scratch::new();
    let task = task();
    scratch.open().enqueue(vec![task.clone()]).await.unwrap();
    let record = scratch.open().get(&task.id).await.unwrap().unwrap();
    assert_eq!((record.status, record.payload), (Status::Queued, task.payload));
}

#[tokio::test]
async fn files_that_cannot_be_used_are_told_apart() {
    let scratch = Scratch::new();
    let text = |file: PathBuf| match SqliteStore::open(file, SqliteOptions::default()) {
        Err(error @ StoreError::Unusable { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(text(scratch.0.join("missing").join("x.db")).contains("directory exists"));
    let garbage = scratch.0.join("garbage");
    std::fs::write(&garbage, vec![b'g'; 10_000]).unwrap();
    assert!(text(garbage).contains("not a database"));
    let foreign = scratch.0.join("foreign");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(text(foreign).contains("another program"));
    drop(scratch.open());
    rusqlite::Connection::open(scratch.file()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(text(scratch.file()).contains("version 99"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_deleted_while_open_takes_no_more_tasks() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.enqueue(vec![task()]).await.unwrap();
    std::fs::remove_file(scratch.file()).unwrap();
    let error = store.enqueue(vec![task()]).await.unwrap_err();
    assert!(error.to_string().contains("deleted, moved or replaced"), "{error}");
}

#[tokio::test]
async fn a_lock_held_too_long_is_refused_and_can_be_tried_again() {
    let scratch = Scratch::new();
    let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
    let store = SqliteStore::open(scratch.file(), options).unwrap();
    let other = rusqlite::Connection::open(scratch.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.enqueue(vec![task()]).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    other.execute_batch("COMMIT").unwrap();
    assert!(store.enqueue(vec![task()]).await.unwrap()[0].created);
}

#[tokio::test]
async fn a_second_copy_of_a_settlement_is_recognised() {
    let (store, clock) = by_hand();
    store.enqueue(vec![task()]).await.unwrap();
    let delivery = one(&store).await;
    let failure = Failure::new(ErrorKind::Error, "nul \0 inside");
    let retry = Verdict::Retry { delay: Duration::from_secs(1), failure: failure.clone() };
    for _ in 0..2 {
        assert_eq!(settle(&store, &delivery, retry.clone()).await, Settled::Applied(Status::Retrying));
    }
    assert_eq!(settle(&store, &delivery, Verdict::Release).await, Settled::Stale);
    clock.advance(Duration::from_secs(1));
    let second = one(&store).await;
    assert_eq!(second.lease.attempt, 2);
    assert_eq!(settle(&store, &delivery, retry).await, Settled::Stale);
    let record = store.get(&delivery.lease.task).await.unwrap().unwrap();
    assert_eq!((record.attempts.len(), &record.attempts[0].failure), (1, &failure));
}

#[tokio::test]
async fn the_log_is_bounded_and_read_in_pages() {
    let options = SqliteOptions { event_log: 1_000, ..SqliteOptions::default() };
    let store = SqliteStore::in_memory(options).unwrap();
    for _ in 0..20 {
        store.enqueue((0..BATCH).map(|_| task()).collect()).await.unwrap();
    }
    let (mut seen, mut after) = (0, EventCursor::start());
    loop {
        let queues = vec![queue()];
        let page = store.events(EventQuery { queues, after, limit: 100, wait: Duration::ZERO }).await.unwrap();
        if page.events.is_empty() {
            break;
        }
        assert!(page.events.iter().all(|event| event.kind == EventKind::Queued && event.attempt == 1));
        seen += page.events.len();
        after = page.next;
    }
    assert!((1_000..1_000 + 2 * BATCH + 256).contains(&seen), "{seen}");
}

#[tokio::test]
async fn forgotten_tasks_are_unknown_and_deleted_in_time() {
    let (store, clock) = by_hand();
    let first = task();
    store.enqueue(vec![first.clone()]).await.unwrap();
    let delivery = one(&store).await;
    settle(&store, &delivery, Verdict::Succeeded { result: Some(Bytes::from_static(b"1")) }).await;
    assert_eq!(store.get(&first.id).await.unwrap().unwrap().result.unwrap(), "1");
    assert!(!store.enqueue(vec![first.clone()]).await.unwrap()[0].created);
    clock.advance(first.policy.retention);
    assert_eq!(store.get(&first.id).await.unwrap(), None);
    assert!(store.enqueue(vec![first.clone(), first]).await.unwrap().iter().map(|a| a.created).eq([true, false]));
    let rows =
        |txn: &mut Txn<'_>| Ok(txn.conn.query_row("SELECT count(*) FROM tasks", (), |row| row.get::<_, i64>(0))?);
    assert_eq!(store.write("test", rows).await.unwrap(), 1);
}

#[tokio::test]
async fn a_lost_worker_s_task_is_taken_over_until_its_attempts_are_used_up() {
    let (store, clock) = by_hand();
    let policy = Policy { max_attempts: 2, ..Policy::DEFAULT };
    let task = NewTask { policy, ..task() };
    store.enqueue(vec![task.clone()]).await.unwrap();
    let first = one(&store).await;
    clock.advance(Duration::from_secs(30));
    let second = one(&store).await;
    assert!(second.reclaimed && second.lease.attempt == 2 && second.lease.token != first.lease.token);
    assert_eq!(settle(&store, &first, Verdict::Release).await, Settled::Stale);
    clock.advance(Duration::from_secs(30));
    assert!(store.claim(claim(1)).await.unwrap().deliveries.is_empty());
    let letters = store.dead_letters(DeadLetterQuery::first(queue(), 9)).await.unwrap().letters;
    assert_eq!((letters.len(), letters[0].failure.kind, letters[0].attempt), (1, ErrorKind::WorkerLost, 2));
    let after = Some(letters[0].position.clone());
    let rest = DeadLetterQuery { after, ..DeadLetterQuery::first(queue(), 9) };
    assert!(store.dead_letters(rest).await.unwrap().letters.is_empty());
    let stats = store.stats(&queue()).await.unwrap();
    assert_eq!((stats.unfinished(), stats.dead_lettered), (0, 1));
}

/// Sets the keys of the latest task back, as requeueing it would.
async fn hold_again(store: &SqliteStore, id: &TaskId) {
    let id = id.clone();
    let again = move |txn: &mut Txn<'_>| {
        let step = txn.step(id.queue())?.expect("a queue");
        let head = step.by_uuid(id.uuid())?.expect("a task");
        step.hold_again(&head)
    };
    store.write("test", again).await.unwrap();
}

#[tokio::test]
async fn a_task_that_is_set_back_holds_its_keys_again_unless_another_does() {
    let (store, clock) = by_hand();
    let keyed = || NewTask { unique: Some("u".into()), ..task().idempotent("k") };
    let first = keyed();
    store.enqueue(vec![first.clone()]).await.unwrap();
    settle(&store, &one(&store).await, Verdict::Failed { failure: Failure::new(ErrorKind::Error, "x") }).await;
    hold_again(&store, &first.id).await;
    // The key does not lapse any more, and the unique key is taken.
    clock.advance(Duration::from_secs(7 * 24 * 3600));
    assert_eq!(store.find_by_key(&queue(), "k").await.unwrap().as_ref(), Some(&first.id));
    let held = "SELECT count(*) FROM keys WHERE held = 1 AND expires_at = 9223372036854775807";
    let held = move |txn: &mut Txn<'_>| Ok(txn.conn.query_row(held, (), |row| row.get::<_, i64>(0))?);
    assert_eq!(store.write("test", held).await.unwrap(), 2);
    // Keys that passed on stay where they are.
    let forget = "UPDATE keys SET held = 0";
    let forget = move |txn: &mut Txn<'_>| Ok(txn.conn.execute(forget, ())?);
    store.write("test", forget).await.unwrap();
    let second = keyed();
    assert!(store.enqueue(vec![second.clone()]).await.unwrap()[0].created);
    hold_again(&store, &first.id).await;
    assert_eq!(store.find_by_key(&queue(), "k").await.unwrap(), Some(second.id));
}
