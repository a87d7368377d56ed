//! Blocks of records among what others write into the same streams, and after the server lost things.

use std::time::Duration;

use dtq::store::{BATCH, CancelOutcome, Claim, Renewed, Settled};
use dtq::types::{EventKind, NewTask, QueueStats, Record, Status, TaskId};
use dtq_tests::{LEASE, RETENTION, RedisServer, World, task, want};

use super::blocks::{DONE, ROW, STREAM, assert_nothing_left, forgotten, record_keys, row, settle};
use super::keys::entries;

#[tokio::test]
async fn raw_keys_a_row_follows_an_entry_with_any_number() {
    for number in [0, 99_990, 999_999_999_990, 1_000_000_000_000, 18_446_744_073_709_551_000, u64::MAX - 5] {
        let w = World::redis().await;
        // Later than any task: ids of a stream only rise.
        let id = format!("9999999999990-{number}");
        let _: String = w.server().command(&["XADD", STREAM, &id, "e", "somebody else's"]);
        let ids = w.enqueue_many(ROW + 10, forgotten).await;
        w.cancel(&ids[5]).await;
        let held = w.drain(want(4)).await;
        let expected: Vec<_> = ids.iter().filter(|&id| *id != ids[5]).cloned().collect();
        assert_eq!(held.iter().map(|it| it.lease.task.clone()).collect::<Vec<_>>(), expected, "{number}");
        w.renew(&[&held[2].lease]).await;
        w.release(&held[3]).await;
        let [first, second] = [&held[..3], &held[4..]];
        assert_eq!(
            settle(&w, &[first, second].concat(), &DONE).await,
            vec![Settled::Applied(Status::Succeeded); ROW + 8]
        );
        settle(&w, &[w.claim_one().await], &DONE).await;
        assert_nothing_left(&w, &number.to_string());
    }
}

/// Copies the entries of a stream, as a producer that repeats its commands would.
fn copy_entries(server: &RedisServer) {
    let entries: Vec<(String, Vec<String>)> = server.command(&["XRANGE", STREAM, "-", "+"]);
    for (_, fields) in entries {
        let words = ["XADD", STREAM, "*"].into_iter().chain(fields.iter().map(String::as_str));
        let _: String = server.command(&words.collect::<Vec<_>>());
    }
}

/// Asserts that each of these ran once, and that one duplicate of each was absorbed.
async fn assert_absorbed(w: &World, ids: &[TaskId]) {
    for id in ids {
        let kinds = w.events_of(id).await;
        let count = |kind| kinds.iter().filter(|&&it| it == kind).count();
        let counts = [EventKind::Started, EventKind::DuplicateAbsorbed, EventKind::Succeeded].map(count);
        assert_eq!(counts, [1; 3], "{kinds:?}");
    }
    assert_eq!(entries(w.server(), STREAM), (0, 0));
}

#[tokio::test]
async fn raw_keys_copied_entries_of_a_row_are_absorbed() {
    for retention in [RETENTION, Duration::ZERO] {
        for (claimed, ended) in [(0, 0), (3, 0), (ROW, 0), (ROW, 4), (ROW, ROW)] {
            let w = World::redis().await;
            let ids = w.enqueue_many(ROW, || task("a").retention(retention)).await;
            let mut held = w.claim(claimed).await;
            // All that end are there to be copied.
            copy_entries(w.server());
            settle(&w, &held[..ended], &DONE).await;
            held.extend(w.drain(Claim { sweep: true, ..want(5) }).await);
            assert_eq!(held.iter().map(|it| it.lease.task.clone()).collect::<Vec<_>>(), ids, "{claimed} {ended}");
            settle(&w, &held[ended..], &DONE).await;
            assert_absorbed(&w, &ids).await;
        }
    }
}

#[tokio::test]
async fn raw_keys_a_torn_copy_of_an_entry_of_a_row_stops_nobody() {
    let w = World::redis().await;
    let ids = w.enqueue_many(ROW, || task("a")).await;
    let begins = &ids[0].uuid().to_string()[..34];
    for rest in ["", "0", "1", "1z a\n{}", "zz a\n{}", "  a\n{}", "-1 a\n{}", "0x a\n{}", "ff a\n{}"] {
        let _: String = w.server().command(&["XADD", STREAM, "*", "e", &format!("{begins}{rest}")]);
    }
    let held = w.drain(Claim { sweep: true, ..want(5) }).await;
    assert_eq!(held.iter().map(|it| it.lease.task.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(w.purge(|purge| purge.stop_running = true).await.1, 0);
    settle(&w, &held, &DONE).await;
    for id in &ids {
        assert_eq!(w.events_of(id).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    }
    assert_eq!(entries(w.server(), STREAM), (0, 0));
}

/// What is seen of tasks whose records were lost.
#[derive(Debug, PartialEq)]
struct Seen {
    renewed: Vec<Renewed>,
    settled: Vec<Settled>,
    cancelled: Vec<CancelOutcome>,
    records: Vec<Option<Record>>,
    handed_out: usize,
    events: Vec<Vec<EventKind>>,
    stats: QueueStats,
    created: Vec<bool>,
    run_again: usize,
}

/// Loses the records of tasks of which some run.
async fn after_a_loss(tasks: Vec<NewTask>) -> Seen {
    let w = World::redis().await;
    w.enqueue_all(tasks.clone()).await;
    let held = w.claim(3).await;
    let (blocks, records) = record_keys(w.server());
    for key in blocks.iter().chain(&records) {
        let _: i64 = w.server().command(&["DEL", key]);
    }
    let leases: Vec<_> = held.iter().map(|it| &it.lease).collect();
    let renewed = w.renew(&leases).await;
    let settled = settle(&w, &held, &DONE).await;
    let (mut cancelled, mut records, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for task in &tasks {
        cancelled.push(w.cancel(&task.id).await);
        records.push(w.get(&task.id).await);
    }
    w.advance(LEASE * 2);
    let handed_out = w.drain(Claim { sweep: true, ..want(BATCH) }).await.len();
    for task in &tasks {
        events.push(w.events_of(&task.id).await);
    }
    let stats = w.stats().await;
    let created = w.enqueue_all(tasks).await.into_iter().map(|it| it.created).collect();
    let again = w.drain(want(BATCH)).await;
    settle(&w, &again, &DONE).await;
    assert_eq!(entries(w.server(), STREAM), (0, 0));
    Seen { renewed, settled, cancelled, records, handed_out, events, stats, created, run_again: again.len() }
}

#[tokio::test]
async fn raw_keys_a_lost_block_is_like_lost_records() {
    let alone = after_a_loss((0..ROW).map(|_| task("a").build()).collect()).await;
    let in_a_row = after_a_loss(row(|| task("a"))).await;
    assert_eq!(in_a_row, alone);
    assert_eq!((in_a_row.handed_out, in_a_row.run_again), (0, ROW));
}

#[tokio::test]
async fn raw_keys_rows_go_on_after_flushall() {
    let w = World::redis().await;
    let row = row(forgotten);
    w.enqueue_all(row.clone()).await;
    let old = w.claim(3).await;
    let _: () = w.server().command(&["FLUSHALL"]);
    // First one after another, so that some have records of their own; then what is left of the row together.
    for one in &row[1..3] {
        assert!(w.enqueue_all(vec![one.clone()]).await[0].created);
    }
    let created: Vec<_> = w.enqueue_all(row.clone()).await.into_iter().map(|it| it.created).collect();
    assert_eq!(created, [true, false, false, true, true, true, true]);
    assert_eq!(settle(&w, &old, &DONE).await, [Settled::Stale; 3]);
    let held = w.drain(want(2)).await;
    assert_eq!(held.len(), ROW);
    assert_eq!(settle(&w, &old, &DONE).await, [Settled::Stale; 3]);
    assert_eq!(settle(&w, &held, &DONE).await, [Settled::Applied(Status::Succeeded); ROW]);
    assert_nothing_left(&w, "after the flush");
}

#[tokio::test]
async fn raw_keys_a_row_is_handed_out_again_when_its_group_was_destroyed() {
    let w = World::redis().await;
    let ids = w.enqueue_many(ROW, || task("a")).await;
    let first = w.claim(3).await;
    settle(&w, &first[..1], &DONE).await;
    let _: i64 = w.server().command(&["XGROUP", "DESTROY", STREAM, "dtq"]);
    let again = w.drain(want(BATCH)).await;
    assert_eq!(again.iter().map(|it| it.lease.task.clone()).collect::<Vec<_>>(), ids[1..]);
    assert_eq!(settle(&w, &again, &DONE).await, [Settled::Applied(Status::Succeeded); ROW - 1]);
    assert_eq!(w.stats().await.succeeded, ROW as u64);
    assert_eq!(entries(w.server(), STREAM), (0, 0));
}
