//! Limits under fire: many workers at once, and long random lives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dtq::store::{AuditQuery, Claim, Settlement, Store, Verdict};
use dtq::types::{AuditAction, Delivery, LimitChanges, Status};
use dtq_tests::{DEFAULT, LEASE, World, failure, promptly, queue, task, want, worker};
use fastrand::Rng;
use tokio::task::JoinSet;

/// How many of each kind run, seen from the outside: between a claim's answer and the call that ends the attempt.
#[derive(Default)]
struct Gauge {
    kinds: [AtomicU32; 3],
    all: AtomicU32,
}

const KINDS: [&str; 3] = ["a", "b", "c"];
const LIMITS: [u32; 3] = [2, 1, u32::MAX];
const ALL: u32 = 4;

impl Gauge {
    fn started(&self, delivery: &Delivery) {
        let kind = KINDS.iter().position(|kind| *kind == delivery.task).expect("a kind");
        let (now, all) = (1 + self.kinds[kind].fetch_add(1, Ordering::SeqCst), 1 + self.all.fetch_add(1, Ordering::SeqCst));
        assert!(now <= LIMITS[kind], "{now} of {} run at once", delivery.task);
        assert!(all <= ALL, "{all} run at once");
    }

    fn ends(&self, delivery: &Delivery) {
        let kind = KINDS.iter().position(|kind| *kind == delivery.task).expect("a kind");
        self.kinds[kind].fetch_sub(1, Ordering::SeqCst);
        self.all.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs what it is given until nothing is left.
async fn work(store: Arc<dyn Store>, gauge: Arc<Gauge>, n: u64) {
    let mut rng = Rng::with_seed(n);
    while store.stats(&queue(DEFAULT)).await.unwrap().unfinished() > 0 {
        let claim = Claim { worker: worker(&format!("racer-{n}")), sweep: rng.u8(..8) == 0, ..want(rng.usize(1..4)) };
        for delivery in store.claim(claim).await.unwrap().deliveries {
            gauge.started(&delivery);
            tokio::task::yield_now().await;
            let verdict = match rng.u8(..8) {
                0 => Verdict::Release,
                1 => Verdict::Snooze { delay: Duration::ZERO },
                2 => Verdict::Retry { delay: Duration::ZERO, failure: failure("x") },
                _ => Verdict::Succeeded { result: None },
            };
            gauge.ends(&delivery);
            store.settle(vec![Settlement { delivery, verdict }]).await.unwrap();
        }
    }
}

pub(crate) async fn many_workers_at_once_never_pass_them(w: &World) {
    w.set_limits(LimitChanges::new().task("a", LIMITS[0]).task("b", LIMITS[1]).concurrency(ALL)).await;
    for kind in KINDS {
        w.enqueue_many(60, || task(kind).max_attempts(100)).await;
    }
    let stores = [w.store(), w.second_store().await];
    let gauge = Arc::<Gauge>::default();
    let mut workers = JoinSet::new();
    for n in 0..8 {
        workers.spawn(work(stores[n % 2].clone(), gauge.clone(), n as u64));
    }
    promptly("eight workers", workers.join_all()).await;
    let limits = w.limits().await;
    assert!(limits.tasks.iter().all(|task| (task.running, task.held_back) == (0, 0)), "{limits:?}");
    assert_eq!(w.stats().await.succeeded, 180);
}

/// A life of one queue with limits, by chance.
struct Life<'w> {
    w: &'w World,
    /// What a failure tells, so that it can be seen again (`DTQ_TEST_SEED`).
    seed: u64,
    rng: Rng,
    held: Vec<Delivery>,
    /// Those of workers that died: they run, by the store's books, until they are taken over or ended.
    lost: Vec<Delivery>,
    /// Leases that are not current any more.
    past: Vec<Delivery>,
    limits: BTreeMap<&'static str, u32>,
    accepted: u64,
}

impl Life<'_> {
    async fn step(&mut self) {
        let w = self.w;
        match self.rng.u8(..20) {
            0..5 => {
                let (kind, count) = (KINDS[self.rng.usize(..3)], self.rng.usize(1..4));
                let (level, ttl) = (self.rng.u8(..10), self.rng.u8(..6) == 0);
                let like = || {
                    let one = task(kind).priority(level).max_attempts(3);
                    if ttl { one.ttl(LEASE) } else { one }
                };
                self.accepted += w.enqueue_many(count, like).await.len() as u64;
            }
            5..10 => self.claim().await,
            10..15 if !self.held.is_empty() => {
                let delivery = self.held.swap_remove(self.rng.usize(..self.held.len()));
                self.end(delivery).await;
            }
            15 if !self.past.is_empty() => {
                let delivery = self.past[self.rng.usize(..self.past.len())].clone();
                w.settle(&delivery, Verdict::Release).await;
            }
            16 => {
                w.advance(LEASE + Duration::from_secs(1));
                self.lost.append(&mut self.held);
            }
            17 if !self.held.is_empty() => {
                let id = self.held[self.rng.usize(..self.held.len())].lease.task.clone();
                w.cancel(&id).await;
            }
            18 => self.change_a_limit().await,
            19 if self.rng.bool() => {
                w.pause(DEFAULT).await;
                assert!(w.claim(10).await.is_empty());
                w.resume(DEFAULT).await;
            }
            _ => {}
        }
    }

    async fn claim(&mut self) {
        let (name, max) = (format!("w{}", self.rng.u8(..4)), self.rng.usize(1..6));
        let claim = Claim { worker: worker(&name), sweep: self.rng.bool(), ..want(max) };
        let claimed = self.w.claim_with(claim).await.deliveries;
        let mut still = vec![];
        for delivery in std::mem::take(&mut self.lost) {
            let record = self.w.get(&delivery.lease.task).await;
            let runs = record.is_some_and(|it| it.status == Status::Running && it.attempt == delivery.lease.attempt);
            if runs { still.push(delivery) } else { self.past.push(delivery) }
        }
        self.lost = still;
        let fresh: Vec<_> = claimed.iter().filter(|one| !one.reclaimed).map(|one| one.task.clone()).collect();
        self.held.extend(claimed);
        let books = self.w.limits().await.tasks;
        for (kind, limit) in &self.limits {
            let running = self.held.iter().chain(&self.lost).filter(|delivery| delivery.task == *kind).count();
            let counted = books.iter().find(|task| task.task == *kind).map(|task| task.running);
            assert_eq!(counted, Some(running as u64), "of {kind}; seed {}", self.seed);
            // One that is taken over goes on, also above a limit that is lower now.
            let fits = running <= *limit as usize || !fresh.iter().any(|task| task == kind);
            assert!(fits, "{running} of {kind} run, {limit} may; seed {}", self.seed);
        }
    }

    async fn end(&mut self, delivery: Delivery) {
        let verdict = match self.rng.u8(..6) {
            0 => Verdict::Release,
            1 => Verdict::Snooze { delay: Duration::from_secs(30) },
            2 => Verdict::Retry { delay: Duration::from_secs(30), failure: failure("x") },
            3 => Verdict::Failed { failure: failure("x") },
            _ => Verdict::Succeeded { result: None },
        };
        self.w.settle(&delivery, verdict.clone()).await;
        if self.rng.bool() {
            self.w.settle(&delivery, verdict).await;
        }
        self.past.push(delivery);
    }

    async fn change_a_limit(&mut self) {
        let (kind, limit) = (KINDS[self.rng.usize(..3)], self.rng.u32(..4));
        if limit == 3 {
            self.limits.remove(kind);
            self.w.set_limits(LimitChanges::new().no_task(kind)).await;
        } else {
            self.limits.insert(kind, limit);
            self.w.set_limits(LimitChanges::new().task(kind, limit)).await;
        }
    }
}

pub(crate) async fn a_long_random_life_passes_none_and_loses_no_slot(w: &World) {
    let seed = std::env::var("DTQ_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    let rng = Rng::with_seed(seed);
    let mut life = Life { w, seed, rng, held: vec![], lost: vec![], past: vec![], limits: BTreeMap::new(), accepted: 0 };
    for _ in 0..600 {
        life.step().await;
    }
    // In the end one of each kind runs at a time, and all come to an end: had a slot been lost, some would never start.
    w.set_limits(LimitChanges::new().task("a", 1).task("b", 1).task("c", 1).no_concurrency()).await;
    w.advance(LEASE * 2);
    for _ in 0..10_000 {
        let claimed = w.claim_with(Claim { worker: worker("last"), sweep: true, ..want(10) }).await;
        if claimed.deliveries.is_empty() && !claimed.more && w.stats().await.unfinished() == 0 {
            break;
        }
        for delivery in &claimed.deliveries {
            w.settle(delivery, Verdict::Succeeded { result: None }).await;
        }
        w.advance(Duration::from_secs(60));
    }
    let (stats, limits) = (w.stats().await, w.limits().await);
    assert_eq!(stats.unfinished(), 0, "seed {seed}: {stats:?}, {limits:?}");
    let ended = stats.succeeded + stats.failed + stats.dead_lettered + stats.cancelled + stats.expired;
    assert_eq!(ended, life.accepted, "seed {seed}");
    assert!(limits.tasks.iter().all(|task| (task.running, task.held_back) == (0, 0)), "seed {seed}: {limits:?}");
}

pub(crate) async fn changes_are_in_the_audit_log_and_no_changes_are_not(w: &World) {
    let changes = LimitChanges::new().depth(1000).concurrency(10).task("charge", 2);
    w.set_limits(changes.clone()).await;
    w.set_limits(changes).await;
    w.declare_limit("charge", Some(5)).await;
    w.set_limits(LimitChanges::new().no_depth().task_as_declared("charge")).await;
    let entries = w.store().audit(AuditQuery { queue: queue(DEFAULT), before: None, limit: 9 }).await.unwrap();
    let told: Vec<_> = entries.iter().map(|entry| (entry.action, entry.target.as_str())).collect();
    assert_eq!(told, [
        (AuditAction::SetLimits, "depth=none charge=declared"),
        (AuditAction::SetLimits, "depth=1000 concurrency=10 charge=2"),
    ]);
    let limits = w.limits().await;
    assert_eq!((limits.max_depth, limits.concurrency, limits.tasks[0].declared), (None, Some(10), Some(5)));
    assert_eq!(limits.tasks[0].set, None);
}

pub(crate) async fn a_queue_that_is_not_there_yet_can_be_limited(w: &World) {
    w.set_limits(LimitChanges::new().concurrency(1)).await;
    assert_eq!(w.store().queues().await.unwrap(), [queue(DEFAULT)]);
    w.enqueue_many(2, || task("a")).await;
    assert_eq!(w.claim(2).await.len(), 1);
}

checks! { limits:
    many_workers_at_once_never_pass_them,
    a_long_random_life_passes_none_and_loses_no_slot,
    changes_are_in_the_audit_log_and_no_changes_are_not,
    a_queue_that_is_not_there_yet_can_be_limited,
}
