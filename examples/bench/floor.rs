//! The floor: what the stream commands cost by themselves, from the same client crate, in the same batches.

use std::time::{Duration, Instant};

use dtq_examples::RedisServer;

use crate::options::Args;
use crate::usage::cpu_us;

/// Server CPU per task, and rates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    pub(crate) enqueue: Pace,
    pub(crate) drain: Pace,
    /// One XADD after the other.
    pub(crate) single: Pace,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) cpu_us: f64,
    pub(crate) per_second: f64,
}

const BATCH: usize = 128;
const STREAM: &str = "floor";
const GROUP: &str = "workers";
const SINGLES: usize = 10_000;

impl Floor {
    /// The commands go to `url`; the server is asked directly what they cost.
    pub(crate) async fn measure(server: &RedisServer, url: &str, args: &Args) -> anyhow::Result<Self> {
        let client = redis::Client::open(url)?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let body = "x".repeat(args.payload);
        let began = Stopwatch::start(server)?;
        for _ in 0..SINGLES {
            add(&body).exec_async(&mut connection).await?;
        }
        let single = began.stop(server, SINGLES)?;
        redis::cmd("DEL").arg(STREAM).exec_async(&mut connection).await?;
        redis::cmd("XGROUP").arg(&["CREATE", STREAM, GROUP, "0", "MKSTREAM"]).exec_async(&mut connection).await?;

        let began = Stopwatch::start(server)?;
        for start in (0..args.tasks).step_by(BATCH) {
            let mut batch = redis::pipe();
            for _ in start..args.tasks.min(start + BATCH) {
                batch.add_command(add(&body)).ignore();
            }
            batch.exec_async(&mut connection).await?;
        }
        let enqueue = began.stop(server, args.tasks)?;

        let began = Stopwatch::start(server)?;
        while drain(&mut connection).await? {}
        let drain = began.stop(server, args.tasks)?;
        Ok(Self { enqueue, drain, single })
    }
}

fn add(body: &str) -> redis::Cmd {
    let mut add = redis::cmd("XADD");
    add.arg(STREAM).arg("*").arg("p").arg(body);
    add
}

/// Reads, acknowledges and deletes one batch; false when there was none.
async fn drain(connection: &mut redis::aio::MultiplexedConnection) -> anyhow::Result<bool> {
    let mut read = redis::cmd("XREADGROUP");
    read.arg(&["GROUP", GROUP, "one", "COUNT"]).arg(BATCH).arg(&["STREAMS", STREAM, ">"]);
    let Some(reply) = read.query_async::<Option<redis::streams::StreamReadReply>>(connection).await? else {
        return Ok(false);
    };
    let ids: Vec<String> = reply.keys.into_iter().flat_map(|key| key.ids).map(|entry| entry.id).collect();
    let mut settle = redis::pipe();
    settle.cmd("XACK").arg(STREAM).arg(GROUP).arg(&ids).ignore();
    settle.cmd("XDEL").arg(STREAM).arg(&ids).ignore();
    settle.exec_async(connection).await?;
    Ok(true)
}

struct Stopwatch {
    began: Instant,
    cpu_us: f64,
}

impl Stopwatch {
    fn start(server: &RedisServer) -> anyhow::Result<Self> {
        let cpu_us = cpu_us(server)?;
        Ok(Self { began: Instant::now(), cpu_us })
    }

    fn stop(self, server: &RedisServer, tasks: usize) -> anyhow::Result<Pace> {
        let time = self.began.elapsed().max(Duration::from_nanos(1));
        let tasks = tasks as f64;
        Ok(Pace { cpu_us: (cpu_us(server)? - self.cpu_us) / tasks, per_second: tasks / time.as_secs_f64() })
    }
}
