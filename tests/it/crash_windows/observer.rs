//! Somebody looks at all keys of a queue as often as possible while its tasks go their ways, and never finds a step half
//! done.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dtq::store::{Claim, Settlement, Store, Verdict};
use dtq::types::{Delivery, NewTask};
use dtq_tests::{World, failure, in_rows, promptly, task, want, worker};
use redis::{FromRedisValue, Value};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Tasks of a round.
pub(super) const TASKS: usize = 200;
/// Looks in the midst of rounds, at least.
pub(super) const LOOKS: usize = 100;

/// Each task ends by its number: with a result, without one, waiting for a retry, or among the dead letters.
fn verdict(delivery: &Delivery) -> Verdict {
    let n: usize = std::str::from_utf8(&delivery.payload).unwrap().parse().unwrap();
    match n % 4 {
        0 => Verdict::Succeeded { result: Some("1".into()) },
        1 => Verdict::Succeeded { result: None },
        2 => Verdict::Retry { delay: Duration::from_secs(3600), failure: failure("x") },
        _ => Verdict::Failed { failure: failure("x") },
    }
}

/// Enqueues, claims and settles in small steps.
pub(super) async fn traffic(store: Arc<dyn Store>, name: String, tasks: Vec<NewTask>) {
    let step = Claim { queue: tasks[0].id.queue().clone(), worker: worker(&name), ..want(2) };
    for batch in tasks.chunks(2) {
        store.enqueue(batch.to_vec()).await.unwrap();
        let deliveries = store.claim(step.clone()).await.unwrap().deliveries;
        let settlements = deliveries.into_iter().map(|it| Settlement { verdict: verdict(&it), delivery: it });
        store.settle(settlements.collect()).await.unwrap();
    }
}

/// One consistent view of the queue.
struct Snapshot {
    /// In the order of the tasks: what is written of each.
    records: Vec<Option<String>>,
    /// In the same order: whether it has a result.
    results: Vec<Option<String>>,
    entries: usize,
    pending: Vec<String>,
    scheduled: usize,
    letters: usize,
    succeeded: usize,
    /// Letters of the event codes, one for each task they tell of.
    events: Vec<char>,
}

/// The keys of one queue.
struct Place {
    queue: String,
}

impl Place {
    fn key(&self, name: &str) -> String {
        format!("dtq:{{{}}}:{name}", self.queue)
    }

    fn look(&self, connection: &mut redis::Connection, uuids: &[Uuid]) -> Snapshot {
        let each = |kind: &str| uuids.iter().map(|uuid| self.key(&format!("{kind}:{uuid}"))).collect::<Vec<_>>();
        let block = |uuid: &Uuid| self.key(&format!("block:{}", &uuid.to_string()[..34]));
        let blocks: Vec<_> = uuids.iter().map(block).collect();
        let stream = self.key("stream:p5");
        let mut step = redis::pipe();
        step.atomic();
        step.cmd("MGET").arg(each("task")).cmd("MGET").arg(blocks).cmd("MGET").arg(each("result"));
        step.cmd("XLEN").arg(&stream).cmd("XPENDING").arg(&stream).arg(&["dtq", "-", "+"]).arg(TASKS);
        step.cmd("ZCARD").arg(self.key("schedule")).cmd("XLEN").arg(self.key("dlq"));
        step.cmd("HGET").arg(self.key("queue")).arg("succeeded");
        step.cmd("XRANGE").arg(self.key("events")).arg(&["-", "+"]);
        let mut values = step.query::<Vec<Value>>(connection).unwrap().into_iter();
        let mut next = || values.next().unwrap();
        let pending =
            |value| read::<Vec<Vec<Value>>>(value).into_iter().map(|mut it| read(it.swap_remove(0))).collect();
        let (own, blocks): (Vec<Option<String>>, Vec<Option<String>>) = (read(next()), read(next()));
        let shared = blocks.iter().zip(uuids).map(|(block, uuid)| fresh(block.as_deref()?, uuid));
        Snapshot {
            records: own.into_iter().zip(shared).map(|(own, shared)| own.or(shared)).collect(),
            results: read(next()),
            entries: read(next()),
            pending: pending(next()),
            scheduled: read(next()),
            letters: read(next()),
            succeeded: read::<Option<usize>>(next()).unwrap_or(0),
            events: read::<Vec<(String, Vec<Value>)>>(next()).into_iter().flat_map(|it| codes(it.1)).collect(),
        }
    }
}

fn read<T: FromRedisValue>(value: Value) -> T {
    T::from_redis_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// The codes in one entry of the event log: lines of `<code><attempt> <uuids>...`, where two letters more are one uuid more.
fn codes(mut fields: Vec<Value>) -> Vec<char> {
    let text: String = read(fields.swap_remove(1));
    let count = |line: &str| line.split(' ').skip(1).map(|uuids| 1 + (uuids.len() - 36) / 2).sum();
    text.lines().flat_map(|line| vec![line.chars().next().unwrap(); count(line)]).collect()
}

impl Snapshot {
    fn told(&self, code: char) -> usize {
        self.events.iter().filter(|&&it| it == code).count()
    }

    /// The entries that records name: of tasks that are queued or running.
    fn named(&self) -> HashSet<String> {
        self.records.iter().flatten().filter_map(|record| entry(record)).collect()
    }

    fn in_state(&self, letter: char) -> usize {
        self.records.iter().flatten().filter(|record| record.starts_with(letter)).count()
    }

    /// Every two traces of one step agree.
    fn assert_whole(&self) {
        let named = self.named();
        assert_eq!(named.len(), self.entries, "each unfinished record has its entry, and the reverse");
        assert!(self.pending.iter().all(|id| named.contains(id)), "a pending entry belongs to an unfinished record");
        assert_eq!(self.told('Q'), self.records.iter().flatten().count(), "accepted is what was told");
        let [succeeded, retrying, dead] = ['S', 'R', 'D'].map(|letter| self.in_state(letter));
        assert_eq!((self.succeeded, self.told('S')), (succeeded, succeeded));
        assert_eq!((self.scheduled, self.told('R')), (retrying, retrying));
        assert_eq!((self.letters, self.told('D')), (dead, dead));
        assert_eq!(
            self.told('B'),
            self.pending.len() + succeeded + retrying + dead,
            "what was started is held or ended"
        );
        for (n, (record, result)) in self.records.iter().zip(&self.results).enumerate() {
            let done = record.as_ref().is_some_and(|record| record.starts_with('S'));
            assert_eq!(result.is_some(), done && n % 4 == 0, "{record:?}: {result:?}");
        }
    }
}

/// The entry of an unfinished task's record, of either form (see `record.rs`).
fn entry(record: &str) -> Option<String> {
    if record.len() == 19 && record.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("{}-{}", &record[..13], record[13..18].parse::<u32>().unwrap()));
    }
    record.strip_prefix('Q')?.split([' ', '\n']).nth(2).map(str::to_owned)
}

/// The record of a task that a block of records tells (see `block.lua`).
fn fresh(block: &str, uuid: &Uuid) -> Option<String> {
    let (head, letters) = block.split_once('\n').unwrap();
    let head: Vec<_> = head.split(' ').collect();
    let number = |at: usize| head[at].parse::<i64>().unwrap();
    let ends_with = i64::from(uuid.as_bytes()[15]);
    let letter = usize::try_from(ends_with - number(3)).ok().and_then(|at| letters.as_bytes().get(at));
    (letter == Some(&b'q')).then(|| format!("Q1 {} {}-{}", head[0], head[1], number(2) + ends_with))
}

/// Lets tasks go their ways in a queue of their own; gives how often somebody looked in the midst of it.
async fn round(w: &World, name: &str) -> usize {
    let place = Place { queue: name.to_owned() };
    let _: () = w.server().command(&["XGROUP", "CREATE", &place.key("stream:p5"), "dtq", "0", "MKSTREAM"]);
    let mut tasks: Vec<_> = (0..TASKS).map(|n| task("a").queue(name).payload(n.to_string()).build()).collect();
    // Half of them stand in rows.
    let rows = in_rows(tasks.split_off(TASKS / 2));
    tasks.extend(rows);
    let uuids: Vec<_> = tasks.iter().map(|task| task.id.uuid()).collect();
    let mut connection = redis::Client::open(w.server().url()).unwrap().get_connection().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let told = done.clone();
    let observer = std::thread::spawn(move || {
        let mut halfway = 0;
        while !told.load(Ordering::Acquire) {
            let snapshot = place.look(&mut connection, &uuids);
            snapshot.assert_whole();
            halfway += usize::from((1..TASKS / 2).contains(&snapshot.succeeded));
        }
        (halfway, place.look(&mut connection, &uuids))
    });
    let mut workers = JoinSet::new();
    for (n, tasks) in tasks.chunks(TASKS / 4).enumerate() {
        workers.spawn(traffic(w.store(), format!("w{n}"), tasks.to_vec()));
    }
    promptly("the tasks go their ways", workers.join_all()).await;
    done.store(true, Ordering::Release);
    let (halfway, last) = observer.join().unwrap();
    last.assert_whole();
    assert_eq!((last.succeeded, last.scheduled, last.letters, last.entries), (TASKS / 2, TASKS / 4, TASKS / 4, 0));
    halfway
}

pub(super) async fn within_enqueue_claim_and_settle_nothing_can_be_seen(w: &World) {
    // As many rounds as a busy machine needs for so many looks.
    let mut looks = 0;
    for n in 0.. {
        looks += round(w, &format!("round-{n}")).await;
        if looks >= LOOKS {
            return;
        }
        assert!(n < 200, "it looked only {looks} times in the midst of {n} rounds");
    }
}
