//! Reading what was done by hand.

use redis::Value;

use super::RedisStore;
use super::record;
use super::reply;
use crate::store::{AuditQuery, Result};
use crate::types::{AuditAction, AuditEntry, By, QueueName};

const OPERATION: &str = "audit";

pub(super) async fn audit(store: &RedisStore, query: &AuditQuery) -> Result<Vec<AuditEntry>> {
    let upto = match query.before.as_deref() {
        None => "+".to_owned(),
        Some(position) if record::entry_time(position).is_some() => format!("({position}"),
        Some(position) => {
            return Err(store.link.corrupt(OPERATION, format!("{position:?} is not a position of this log")));
        }
    };
    let mut command = redis::cmd("XREVRANGE");
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    command.arg(store.keys.audit(&query.queue)).arg(upto).arg("-").arg("COUNT").arg(limit);
    let answer = store.link.run(OPERATION, &command).await?;
    reply::list_or_nil(answer)
        .and_then(|entries| entries.into_iter().map(|it| entry(&query.queue, it)).collect())
        .ok_or_else(|| store.link.corrupt(OPERATION, format!("the audit log of {:?} cannot be read", query.queue)))
}

fn entry(queue: &QueueName, value: Value) -> Option<AuditEntry> {
    let (position, fields) = reply::entry(value)?;
    let field = |name| reply::field(&fields, name);
    Some(AuditEntry {
        at: record::entry_time(&position)?,
        queue: queue.clone(),
        action: AuditAction::from_name(&field("a")?),
        target: field("t")?,
        tasks: field("n")?.parse().ok()?,
        by: By { actor: field("w")?, reason: field("r")? },
        position,
    })
}
