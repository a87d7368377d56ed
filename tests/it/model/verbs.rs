//! Random verbs: how they are made, and how they shrink.

use dtq::store::RequeueFrom;
use dtq::types::OnConflict;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The unit of time of the model. The clock moves by even numbers of ticks; delays, leases, times to live and
/// retentions are odd ones. So they end halfway between two looks at the clock, and the milliseconds that pass by
/// themselves on a server decide nothing.
pub(super) type Ticks = u64;

pub(super) const QUEUES: [&str; 2] = ["default", "other"];
pub(super) const WORKERS: [&str; 3] = ["w0", "w1", "w2"];

/// So few keys of each kind that they meet.
const KEYS: usize = 2;

/// A claim for this many wants all there is.
pub(super) const ALL: usize = 100;

/// Longer than the retention of a dead letter, in ticks of 50 seconds.
const TWO_MONTHS: Ticks = 60 * 24 * 3600 / 50;

/// A call as it was made up. Tasks and leases are named by how many came after them, and the first is taken when there
/// are not that many: a verb keeps a meaning whatever the shrinking takes away before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verb {
    /// `Some(n)`: the id of a task that was enqueued before.
    Enqueue(Vec<(Option<usize>, New)>),
    Claim(Wish),
    Settle(Vec<(usize, End)>),
    /// `None`: by the worker that holds the first of them.
    Renew {
        worker: Option<usize>,
        leases: Vec<usize>,
        lease: Ticks,
    },
    Cancel(usize),
    Pause(usize, bool),
    Purge(usize),
    /// By hand, to a task that may be finished.
    Steer(usize, Hand),
    Advance(Ticks),
    /// Every handle is dropped and a new one is opened.
    Reopen,
}

/// What a task is enqueued with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct New {
    pub(super) queue: usize,
    pub(super) priority: u8,
    pub(super) deferral: Deferral,
    pub(super) max_attempts: u32,
    pub(super) dead_letter: bool,
    pub(super) retention: Ticks,
    pub(super) ttl: Option<Ticks>,
    /// The number of its idempotency key.
    pub(super) key: Option<usize>,
    pub(super) unique: Option<UniqueKey>,
}

/// A unique key by its number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UniqueKey {
    pub(super) key: usize,
    pub(super) hold: Hold,
    pub(super) on_conflict: OnConflict,
}

/// How long a unique key is held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hold {
    Started,
    Finished,
    Period(Ticks),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Deferral {
    Now,
    After(Ticks),
    /// At an instant, told as its distance from the present.
    At(i64),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wish {
    pub(super) queue: usize,
    pub(super) worker: usize,
    pub(super) max: usize,
    pub(super) lease: Ticks,
    pub(super) sweep: bool,
}

/// How a settlement ends an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    Succeed { result: bool },
    Retry(Ticks),
    Snooze(Ticks),
    Fail,
    Drop,
    Release,
}

/// What is done by hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hand {
    Requeue(RequeueFrom),
    Discard,
    Purge,
}

impl Verb {
    /// The same verb with one task or one lease less, whichever.
    pub(super) fn lesser(&self) -> Vec<Self> {
        match self {
            Self::Enqueue(tasks) if tasks.len() > 1 => without_each(tasks).map(Self::Enqueue).collect(),
            Self::Settle(ends) if ends.len() > 1 => without_each(ends).map(Self::Settle).collect(),
            _ => vec![],
        }
    }
}

/// All but one of these, whichever.
pub(super) fn without_each<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..all.len()).map(|at| [&all[..at], &all[at + 1..]].concat())
}

impl End {
    /// The same kind of end: all that a store compares when it recognises a repeat.
    pub(super) fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// A sequence of up to `most` verbs.
pub(super) fn sequence(most: usize) -> impl Strategy<Value = Vec<Verb>> {
    vec(verb(), 1..=most)
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        4 => vec((option::weighted(0.2, 0..20_usize), new()), 1..=3).prop_map(Verb::Enqueue),
        3 => row().prop_map(Verb::Enqueue),
        5 => wish().prop_map(Verb::Claim),
        4 => vec((recent(), end()), 1..=3).prop_map(Verb::Settle),
        3 => alike().prop_map(Verb::Settle),
        2 => renewal(),
        2 => (0..20_usize).prop_map(Verb::Cancel),
        // More often back than forth: while a queue is paused, nothing starts.
        2 => (0..QUEUES.len(), prop::bool::weighted(0.3)).prop_map(|(queue, pause)| Verb::Pause(queue, pause)),
        1 => prop_oneof![3 => Just(1_usize), 1 => Just(0)].prop_map(Verb::Purge),
        3 => (0..10_usize, hand()).prop_map(|(back, hand)| Verb::Steer(back, hand)),
        4 => (1..=5_u64).prop_map(|steps| Verb::Advance(2 * steps)),
        1 => Just(Verb::Reopen),
        // Rare: after it little is left to go on with.
        1 => Just(Verb::Advance(TWO_MONTHS)),
    ]
}

fn hand() -> impl Strategy<Value = Hand> {
    prop_oneof![
        2 => Just(Hand::Requeue(RequeueFrom::DeadLetters)),
        2 => Just(Hand::Requeue(RequeueFrom::Unsuccessful)),
        1 => Just(Hand::Requeue(RequeueFrom::Finished)),
        2 => Just(Hand::Discard),
        1 => Just(Hand::Purge),
    ]
}

/// Tasks of one kind, as a batch of calls is. The first of them may have been sent before, alone or with others.
fn row() -> impl Strategy<Value = Vec<(Option<usize>, New)>> {
    (option::weighted(0.3, 0..20_usize), new(), 2..=6_usize).prop_map(|(known, new, count)| {
        let like = New { key: None, unique: None, ..new };
        (0..count).map(|n| (known.and_then(|back| back.checked_sub(n)), like.clone())).collect()
    })
}

/// Leases that were handed out one after another and end in the same way.
fn alike() -> impl Strategy<Value = Vec<(usize, End)>> {
    (0..8_usize, end(), 2..=6_usize)
        .prop_map(|(first, end, count)| (0..count).filter_map(|n| Some((first.checked_sub(n)?, end))).collect())
}

/// Mostly a recent lease, now and then an old one.
fn recent() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..4_usize, 1 => 0..40_usize]
}

/// An odd number of ticks, from 1 on.
fn odd(up_to: u64) -> impl Strategy<Value = Ticks> {
    (0..=up_to).prop_map(|n| 2 * n + 1)
}

fn new() -> impl Strategy<Value = New> {
    let deferral = prop_oneof![
        6 => Just(Deferral::Now),
        1 => odd(3).prop_map(Deferral::After),
        1 => Just(Deferral::After(0)),
        1 => (-2..4_i64).prop_map(|n| Deferral::At(2 * n + 1)),
    ];
    let queue = prop_oneof![4 => Just(0_usize), 1 => Just(1_usize)];
    let priority = prop_oneof![4 => Just(5_u8), 1 => Just(9), 1 => Just(0)];
    let retention = prop_oneof![3 => Just(2001), 1 => odd(3), 1 => Just(0)];
    let ttl = option::weighted(0.25, odd(5));
    let keys = (option::weighted(0.25, 0..KEYS), option::weighted(0.25, unique()));
    (queue, priority, deferral, 1..=3_u32, prop::bool::weighted(0.75), retention, ttl, keys).prop_map(
        |(queue, priority, deferral, max_attempts, dead_letter, retention, ttl, (key, unique))| New {
            queue,
            priority,
            deferral,
            max_attempts,
            dead_letter,
            retention,
            ttl,
            key,
            unique,
        },
    )
}

fn unique() -> impl Strategy<Value = UniqueKey> {
    let hold = prop_oneof![Just(Hold::Finished), Just(Hold::Started), odd(3).prop_map(Hold::Period)];
    let on_conflict = prop_oneof![
        Just(OnConflict::Skip),
        Just(OnConflict::Replace),
        Just(OnConflict::Reschedule),
        Just(OnConflict::Error),
    ];
    (0..KEYS, hold, on_conflict).prop_map(|(key, hold, on_conflict)| UniqueKey { key, hold, on_conflict })
}

fn wish() -> impl Strategy<Value = Wish> {
    let queue = prop_oneof![4 => Just(0_usize), 1 => Just(1_usize)];
    let max = prop_oneof![2 => Just(ALL), 2 => 0..4_usize];
    (queue, 0..WORKERS.len(), max, lease(), any::<bool>()).prop_map(|(queue, worker, max, lease, sweep)| Wish {
        queue,
        worker,
        max,
        lease,
        sweep,
    })
}

/// A quarter of the longest is less than a step of the clock: after a step every claim looks for lost tasks, as it must
/// at least every quarter of a lease.
fn lease() -> impl Strategy<Value = Ticks> {
    odd(3)
}

fn renewal() -> impl Strategy<Value = Verb> {
    (option::weighted(0.2, 0..WORKERS.len()), vec(recent(), 1..=4), lease())
        .prop_map(|(worker, leases, lease)| Verb::Renew { worker, leases, lease })
}

fn end() -> impl Strategy<Value = End> {
    let delay = || prop_oneof![1 => Just(0), 3 => odd(2)];
    prop_oneof![
        3 => any::<bool>().prop_map(|result| End::Succeed { result }),
        2 => delay().prop_map(End::Retry),
        1 => delay().prop_map(End::Snooze),
        1 => Just(End::Fail),
        1 => Just(End::Drop),
        1 => Just(End::Release),
    ]
}
