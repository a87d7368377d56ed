//! Reading the list of dead letters.

use redis::Value;

use super::RedisStore;
use super::record;
use super::reply;
use crate::store::{DeadLetterPage, DeadLetterQuery, LOOKED_AT, Result};
use crate::types::{DeadLetter, DeadLetterFilter, Policy, QueueName, TaskId, Timestamp};

const OPERATION: &str = "dead_letters";

pub(super) async fn dead_letters(store: &RedisStore, query: &DeadLetterQuery) -> Result<DeadLetterPage> {
    let now = now(store).await?;
    // With a filter more are looked at than are wanted.
    let all = query.filter == DeadLetterFilter::default();
    let count = if all { query.limit.min(LOOKED_AT) } else { LOOKED_AT };
    let mut command = redis::cmd("XRANGE");
    command.arg(store.keys.dlq(&query.queue)).arg(from(store, query, now)?).arg("+").arg("COUNT").arg(count);
    let answer = store.link.run(OPERATION, &command).await?;
    let unreadable = || store.link.corrupt(OPERATION, format!("the dead letters of {:?} cannot be read", query.queue));
    let entries = reply::list_or_nil(answer).ok_or_else(unreadable)?;
    let mut page = DeadLetterPage { letters: Vec::new(), next: None, now };
    let mut left = entries.len() == count;
    for entry in entries {
        if page.letters.len() == query.limit {
            left = true;
            break;
        }
        let letter = dead_letter(&query.queue, entry).ok_or_else(unreadable)?;
        page.next = Some(letter.position.clone());
        if query.filter.fits(&letter, now) {
            page.letters.push(letter);
        }
    }
    page.next = page.next.or_else(|| query.after.clone()).filter(|_| left);
    Ok(page)
}

/// Where the range begins.
fn from(store: &RedisStore, query: &DeadLetterQuery, now: Timestamp) -> Result<String> {
    let oldest = now.as_millis() - i64::try_from(Policy::DEAD_LETTER_RETENTION.as_millis()).unwrap_or(i64::MAX);
    let oldest = oldest.max(0);
    let Some(position) = &query.after else { return Ok(oldest.to_string()) };
    match time_of(position) {
        // What is older than a dead letter is kept may still be there until the next one trims the list.
        Some(time) if time >= oldest => Ok(format!("({position}")),
        Some(_) => Ok(oldest.to_string()),
        None => Err(store.link.corrupt(OPERATION, format!("{position:?} is not a position of this list"))),
    }
}

async fn now(store: &RedisStore) -> Result<Timestamp> {
    let answer = store.link.run(OPERATION, &redis::cmd("TIME")).await?;
    let time = reply::list(answer).and_then(|parts| {
        let mut parts = parts.into_iter().map(|part| reply::text(part)?.parse::<i64>().ok());
        Some(Timestamp::from_millis(parts.next()?? * 1000 + parts.next()?? / 1000))
    });
    time.ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer to TIME"))
}

/// The time part of an entry id; `None` when it is none.
fn time_of(id: &str) -> Option<i64> {
    let (time, sequence) = id.split_once('-')?;
    sequence.parse::<u64>().ok()?;
    time.parse().ok()
}

fn dead_letter(queue: &QueueName, entry: Value) -> Option<DeadLetter> {
    let (position, fields) = reply::entry(entry)?;
    let uuid = reply::field(&fields, "i")?.parse().ok()?;
    let last = record::read_line(&reply::field(&fields, "h")?)?;
    Some(DeadLetter {
        at: last.ended_at,
        position,
        id: TaskId::new(queue.clone(), uuid),
        task: reply::field(&fields, "t")?,
        attempt: last.number,
        failure: last.failure,
    })
}
