//! The server dies within a settle: its log of commands ends somewhere in the middle of it. Whatever a server makes of
//! such a log, it is nothing of the settle, or all of it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::{DeadLetterQuery, EventQuery, Settled, Settlement, Store, Verdict};
use dtq::types::{Attempt, EventCursor, EventKind, QueueStats, Status, TaskId};
use dtq_tests::{DEFAULT, RedisServer, failure, queue, task, want};

/// How the log says that a step begins.
const BEGIN: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";

/// How many bytes lie between two cuts, beside those between commands. Not a divisor of usual lengths.
const STRIDE: usize = 17;

/// All that a settle writes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    status: Status,
    attempts: Vec<Attempt>,
    result: Option<bytes::Bytes>,
    stats: QueueStats,
    letters: usize,
    events: Vec<EventKind>,
}

async fn look(server: &RedisServer, id: &TaskId) -> Seen {
    let store = RedisStore::connect(&server.url(), RedisOptions::default()).unwrap();
    let record = store.get(id).await.unwrap().unwrap();
    let letters = DeadLetterQuery::first(queue(DEFAULT), 10);
    let events =
        EventQuery { queues: vec![queue(DEFAULT)], after: EventCursor::start(), limit: 100, wait: Duration::ZERO };
    Seen {
        status: record.status,
        attempts: record.attempts,
        result: record.result,
        stats: store.stats(&queue(DEFAULT)).await.unwrap(),
        letters: store.dead_letters(letters).await.unwrap().letters.len(),
        events: store.events(events).await.unwrap().events.into_iter().map(|event| event.kind).collect(),
    }
}

/// The one file that a server of version 7 appends to.
fn log_of(server: &RedisServer) -> PathBuf {
    let files = std::fs::read_dir(server.dir().join("appendonlydir")).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    files.find(|path| path.to_string_lossy().ends_with(".incr.aof")).unwrap()
}

/// Where to cut: before each command of the last step, and at a spread of other places in it.
fn cuts(log: &[u8]) -> BTreeSet<usize> {
    let begin = log.windows(BEGIN.len()).rposition(|window| window == BEGIN).unwrap();
    let commands = (begin..log.len()).filter(|&at| log[at] == b'*' && log[..at].ends_with(b"\r\n"));
    commands.chain((begin..log.len()).step_by(STRIDE)).chain([log.len() - 1]).collect()
}

async fn cut_everywhere(verdict: Verdict, status: Status) {
    let mut server = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let store = RedisStore::connect(&server.url(), RedisOptions::default()).unwrap();
    let id = store.enqueue(vec![task("a").build()]).await.unwrap().remove(0).id;
    let delivery = store.claim(want(1)).await.unwrap().deliveries.remove(0);
    let before = look(&server, &id).await;
    assert_eq!(before.status, Status::Running);
    let answer = store.settle(vec![Settlement { delivery, verdict }]).await.unwrap();
    assert_eq!(answer, [Settled::Applied(status)]);
    let after = look(&server, &id).await;
    assert!(before.stats != after.stats && before.events != after.events, "{after:?}");
    server.kill();
    let path = log_of(&server);
    let log = std::fs::read(&path).unwrap();
    let cuts = cuts(&log);
    assert!(cuts.len() > 30, "{cuts:?}");
    for cut in cuts {
        assert_eq!(restarted(&mut server, &path, &log[..cut], &id).await, before, "cut at {cut} of {}", log.len());
    }
    assert_eq!(restarted(&mut server, &path, &log, &id).await, after);
}

/// What a server shows that was started on this log.
async fn restarted(server: &mut RedisServer, path: &std::path::Path, log: &[u8], id: &TaskId) -> Seen {
    std::fs::write(path, log).unwrap();
    server.start_again().await;
    let seen = look(server, id).await;
    server.kill();
    seen
}

pub(super) async fn within_the_settle_of_a_success_a_cut_log_holds_all_or_nothing() {
    cut_everywhere(Verdict::Succeeded { result: Some("1".into()) }, Status::Succeeded).await;
}

pub(super) async fn within_the_settle_of_a_retry_a_cut_log_holds_all_or_nothing() {
    let delay = Duration::from_secs(3600);
    cut_everywhere(Verdict::Retry { delay, failure: failure("not yet") }, Status::Retrying).await;
}

pub(super) async fn within_the_settle_of_a_dead_letter_a_cut_log_holds_all_or_nothing() {
    cut_everywhere(Verdict::Failed { failure: failure("no way") }, Status::DeadLettered).await;
}
