//! Ending attempts.

use std::collections::HashSet;

use redis::{Cmd, Value};

use super::RedisStore;
use super::claim::Token;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{BATCH, Result, Settled, Settlement, Verdict};
use crate::types::{Delivery, ErrorKind, Failure, Lease, Policy, QueueName, Status, TaskId};

const OPERATION: &str = "settle";

pub(super) async fn settle(store: &RedisStore, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
    let mut answers: Vec<Settled> = settlements.iter().map(intended).collect();
    for step in steps(&settlements) {
        for (place, settled) in send(store, &settlements, step).await? {
            answers[place] = settled;
        }
    }
    Ok(answers)
}

fn intended(settlement: &Settlement) -> Settled {
    Settled::Applied(settlement.verdict.target(settlement.delivery.policy.dead_letter))
}

/// Settlements of one atomic step, by their places.
struct Step<'a> {
    queue: &'a QueueName,
    places: Vec<usize>,
    tasks: HashSet<&'a TaskId>,
}

/// One step for each queue and [`BATCH`]. Two settlements of one task go into different steps, since a script reads
/// all records before it writes any.
fn steps(settlements: &[Settlement]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (place, settlement) in settlements.iter().enumerate() {
        let task = &settlement.delivery.lease.task;
        // The queue's latest step, so that settlements of one task stay in order.
        let open = steps.iter_mut().rfind(|step| step.queue == task.queue());
        match open.filter(|step| step.places.len() < BATCH && !step.tasks.contains(task)) {
            Some(step) => {
                step.places.push(place);
                step.tasks.insert(task);
            }
            None => steps.push(Step { queue: task.queue(), places: vec![place], tasks: HashSet::from([task]) }),
        }
    }
    steps
}

/// Sends one step; gives the answers that differ from what was intended.
async fn send(store: &RedisStore, settlements: &[Settlement], step: Step<'_>) -> Result<Vec<(usize, Settled)>> {
    let mut items: Vec<Item<'_>> = step.places.iter().map(|&place| Item::of(place, &settlements[place])).collect();
    items.sort_by_key(Item::group);
    let script = &SCRIPTS.settle;
    let mut call = Link::call(script, &store.keys.root(step.queue));
    call.arg(store.link.options().event_log).arg(items.len());
    for group in items.chunk_by(|a, b| a.group() == b.group()) {
        match group[0].block {
            Some(block) => write_block(&mut call, block, group),
            None => write_group(&mut call, group),
        }
    }
    let answer = store.link.eval(OPERATION, script, &call).await?;
    exceptions(&items, answer).ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))
}

/// Writes settlements whose records are their own, as far as is known here.
fn write_group(call: &mut Cmd, group: &[Item<'_>]) {
    let Item { op, token, delivery, .. } = &group[0];
    call.arg("o").arg(op.name()).arg(token.band).arg(delivery.lease.attempt).arg(group.len()).arg(op.width());
    for item in group {
        call.arg(item.delivery.lease.task.uuid().to_string());
    }
    for item in group {
        call.arg(item.token.entry);
        item.write(call);
    }
}

/// Writes settlements whose records were in one block.
fn write_block(call: &mut Cmd, block: Block, group: &[Item<'_>]) {
    let Item { op, token, delivery, .. } = &group[0];
    let begins = delivery.lease.task.uuid().to_string();
    let numbers: Vec<u8> = group.iter().map(Item::number).collect();
    let ends: String = numbers.iter().map(|number| format!("{number:02x}")).collect();
    call.arg("b").arg(op.name()).arg(token.band).arg(&begins[..begins.len() - 2]).arg(block.ms).arg(block.base);
    call.arg(group.len()).arg(op.width()).arg(numbers).arg(ends);
    for item in group {
        call.arg(item.token.entry);
    }
    for item in group {
        item.write(call);
    }
}

fn exceptions(items: &[Item<'_>], answer: Value) -> Option<Vec<(usize, Settled)>> {
    let numbers = reply::list(answer)?;
    let exception = |value: &Value| {
        let number = reply::int(value)?;
        let item = items.get(usize::try_from(number.unsigned_abs()).ok()?.checked_sub(1)?)?;
        let settled = if number > 0 { Settled::Stale } else { Settled::Applied(Status::Cancelled) };
        Some((item.place, settled))
    };
    numbers.iter().map(exception).collect()
}

/// What a script does for a settlement; `lua/settle.lua` lists the fields of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Op {
    Forget,
    Succeed,
    SucceedWithResult,
    Retry,
    Snooze,
    Fail,
    Bury,
    Cancel,
    Release,
}

impl Op {
    const fn of(verdict: &Verdict, policy: &Policy) -> Self {
        match verdict {
            Verdict::Succeeded { .. } if policy.retention.is_zero() => Self::Forget,
            Verdict::Succeeded { result: None } => Self::Succeed,
            Verdict::Succeeded { result: Some(_) } => Self::SucceedWithResult,
            Verdict::Retry { .. } => Self::Retry,
            Verdict::Snooze { .. } => Self::Snooze,
            Verdict::Failed { .. } if policy.dead_letter => Self::Bury,
            Verdict::Failed { .. } => Self::Fail,
            Verdict::Cancelled { .. } => Self::Cancel,
            Verdict::Release => Self::Release,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Forget => "S0",
            Self::Succeed => "S",
            Self::SucceedWithResult => "SR",
            Self::Retry => "R",
            Self::Snooze => "P",
            Self::Fail => "F",
            Self::Bury => "D",
            Self::Cancel => "C",
            Self::Release => "V",
        }
    }

    /// How many fields each settlement has beside its entry.
    const fn width(self) -> usize {
        match self {
            Self::Forget => 0,
            Self::Succeed | Self::Snooze => 2,
            Self::SucceedWithResult | Self::Retry | Self::Fail | Self::Cancel | Self::Release => 3,
            Self::Bury => 4,
        }
    }

    const fn is_success(self) -> bool {
        matches!(self, Self::Forget | Self::Succeed | Self::SucceedWithResult)
    }
}

/// Where the entries of a block are, see `lua/block.lua`; and what the uuids of its tasks begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    begins: u128,
    ms: u64,
    base: i64,
}

impl Block {
    /// The block in which a lease's record was when its attempt began.
    fn of(lease: &Lease, token: Token<'_>) -> Option<Self> {
        let (ms, number) = token.entry.split_once('-').filter(|_| token.block)?;
        let uuid = lease.task.uuid().as_u128();
        let base = number.parse::<i64>().ok()? - i64::try_from(uuid & 0xff).ok()?;
        Some(Self { begins: uuid >> 8, ms: ms.parse().ok()?, base })
    }
}

struct Item<'a> {
    place: usize,
    op: Op,
    token: Token<'a>,
    /// The block that its record was in, when that helps to settle it.
    block: Option<Block>,
    delivery: &'a Delivery,
    verdict: &'a Verdict,
}

impl<'a> Item<'a> {
    fn of(place: usize, settlement: &'a Settlement) -> Self {
        let Settlement { delivery, verdict } = settlement;
        let op = Op::of(verdict, &delivery.policy);
        let token = Token::read(&delivery.lease.token);
        let fresh = op.is_success() && delivery.lease.attempt == 1;
        let block = Block::of(&delivery.lease, token).filter(|_| fresh);
        Self { place, op, token, block, delivery, verdict }
    }

    /// Settlements with the same value here share a group.
    fn group(&self) -> (Op, u8, u32, Option<Block>) {
        (self.op, self.token.band, self.delivery.lease.attempt, self.block)
    }

    /// What its task's uuid ends with.
    fn number(&self) -> u8 {
        self.delivery.lease.task.uuid().as_bytes()[15]
    }

    fn write(&self, call: &mut Cmd) {
        let keep = record::millis(self.delivery.policy.retention);
        match self.verdict {
            Verdict::Succeeded { .. } if self.op == Op::Forget => call,
            Verdict::Succeeded { result: None } => call.arg(self.tail()).arg(keep),
            Verdict::Succeeded { result: Some(result) } => call.arg(self.tail()).arg(keep).arg(&result[..]),
            Verdict::Retry { delay, failure } => {
                call.arg(self.tail()).arg(record::millis(*delay)).arg(self.failed(failure))
            }
            Verdict::Snooze { delay } => call.arg(self.tail()).arg(record::millis(*delay)),
            Verdict::Failed { failure } if self.op == Op::Bury => {
                let keep = record::millis(Policy::DEAD_LETTER_RETENTION);
                call.arg(self.tail()).arg(keep).arg(self.failed(failure)).arg(&self.delivery.task)
            }
            Verdict::Failed { failure } => call.arg(self.tail()).arg(keep).arg(self.failed(failure)),
            Verdict::Cancelled { reason } => {
                let failure = Failure::new(ErrorKind::Cancelled, reason.as_str());
                call.arg(self.tail()).arg(keep).arg(self.failed(&failure))
            }
            Verdict::Release => call.arg(&self.delivery.task).arg(self.meta()).arg(&self.delivery.payload[..]),
        };
    }

    fn meta(&self) -> String {
        record::meta(&self.delivery.policy, Some(self.delivery.enqueued_at), self.token.carried)
    }

    /// The envelope, which leaves the stream entry that held it.
    fn tail(&self) -> Vec<u8> {
        record::tail(&self.delivery.task, &self.meta(), &self.delivery.payload)
    }

    fn failed(&self, failure: &Failure) -> String {
        record::failed(self.delivery.claimed_at, failure)
    }
}
