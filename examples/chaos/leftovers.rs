//! What must not be left in the store when all tasks have ended.

use std::time::{Duration, Instant};

use dtq::Client;
use dtq::types::QueueName;
use tokio::time::sleep;

use crate::place::Place;

/// Waits until no queue has an unfinished task; false when that took too long.
pub(crate) async fn drained(client: &Client, queues: &[QueueName], within: Duration) -> bool {
    let deadline = Instant::now() + within;
    loop {
        if matches!(unfinished(client, queues).await, Ok(0)) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn unfinished(client: &Client, queues: &[QueueName]) -> anyhow::Result<u64> {
    let mut sum = 0;
    for queue in queues {
        sum += client.stats(queue).await?.unfinished();
    }
    Ok(sum)
}

/// What is left, in words.
pub(crate) async fn left(client: &Client, place: &Place, queues: &[QueueName]) -> anyhow::Result<Vec<String>> {
    let mut left = Vec::new();
    for queue in queues {
        let stats = client.stats(queue).await?;
        if stats.unfinished() > 0 {
            left.push(format!("unfinished tasks in queue {queue}: {stats:?}"));
        }
    }
    if let Some(redis) = place.redis() {
        left.extend(left_on_redis(&mut redis.connection()?)?);
    }
    Ok(left)
}

/// Entries of ready or running tasks, and places in the schedule.
fn left_on_redis(connection: &mut redis::Connection) -> anyhow::Result<Vec<String>> {
    let mut left = Vec::new();
    for (pattern, length) in [("dtq:{*}:stream:*", "XLEN"), ("dtq:{*}:schedule", "ZCARD")] {
        let keys: Vec<String> = redis::cmd("KEYS").arg(pattern).query(connection)?;
        for key in keys {
            let count: u64 = redis::cmd(length).arg(&key).query(connection)?;
            if count > 0 {
                left.push(format!("{length} {key} is {count}"));
            }
        }
    }
    Ok(left)
}
