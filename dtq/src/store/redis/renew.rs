//! Extending leases.

use std::vec::IntoIter;

use redis::Value;

use super::RedisStore;
use super::claim::Token;
use super::keys::Keys;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{BATCH, Renewal, Renewed, Result};
use crate::types::{Lease, QueueName};

const OPERATION: &str = "renew";

pub(super) async fn renew(store: &RedisStore, renewal: &Renewal) -> Result<Vec<Renewed>> {
    let mut answers = vec![Renewed::Lost; renewal.leases.len()];
    let mut items: Vec<Item<'_>> = renewal.leases.iter().enumerate().map(Item::of).collect();
    items.sort_by_key(Item::group);
    for of_queue in items.chunk_by(|a, b| a.lease.task.queue() == b.lease.task.queue()) {
        for step in of_queue.chunks(BATCH) {
            let renewed = send(store, renewal, step).await?;
            for (item, answer) in step.iter().zip(renewed) {
                answers[item.place] = answer;
            }
        }
    }
    Ok(answers)
}

struct Item<'a> {
    place: usize,
    lease: &'a Lease,
    token: Token<'a>,
}

impl<'a> Item<'a> {
    fn of((place, lease): (usize, &'a Lease)) -> Self {
        Self { place, lease, token: Token::read(&lease.token) }
    }

    /// Leases with the same value here share a group.
    fn group(&self) -> (&'a QueueName, u8, u32) {
        (self.lease.task.queue(), self.token.band, self.lease.attempt)
    }
}

async fn send(store: &RedisStore, renewal: &Renewal, items: &[Item<'_>]) -> Result<Vec<Renewed>> {
    let script = &SCRIPTS.renew;
    let mut call = Link::call(script, &store.keys.root(items[0].lease.task.queue()));
    call.arg(Keys::consumer(&renewal.worker, renewal.lease)).arg(items.len());
    for item in items {
        call.arg(item.lease.task.uuid().to_string());
    }
    for group in items.chunk_by(|a, b| a.group() == b.group()) {
        let (_, band, attempt) = group[0].group();
        call.arg(band).arg(attempt).arg(group.len());
        for item in group {
            call.arg(item.token.entry).arg(item.token.start.as_millis());
        }
    }
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let answers = reply::list(answer).filter(|answers| answers.len() == items.len());
    answers
        .and_then(|answers| read(answers.into_iter()))
        .ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))
}

fn read(answers: IntoIter<Value>) -> Option<Vec<Renewed>> {
    let one = |answer| match answer {
        Value::Int(1) => Some(Renewed::Held),
        Value::Int(_) => Some(Renewed::Lost),
        reason => Some(Renewed::CancelRequested(record::unescape(&reply::text(reason)?))),
    };
    answers.map(one).collect()
}
