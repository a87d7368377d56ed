//! The floor: what the stream commands cost by themselves, from the same client crate, in the same batches.

use std::time::Instant;

use dtq_examples::RedisServer;

use crate::usage::cpu_us;

/// Server CPU per task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    pub(crate) enqueue_us: f64,
    pub(crate) drain_us: f64,
}

const BATCH: usize = 128;
const STREAM: &str = "floor";
const GROUP: &str = "workers";

pub(crate) fn measure(server: &RedisServer, tasks: usize, payload: usize) -> anyhow::Result<Floor> {
    let mut connection = server.connection()?;
    redis::cmd("XGROUP").arg(&["CREATE", STREAM, GROUP, "0", "MKSTREAM"]).exec(&mut connection)?;
    let began = Instant::now();
    let empty = cpu_us(server)?;
    enqueue(&mut connection, tasks, payload)?;
    let full = cpu_us(server)?;
    drain(&mut connection)?;
    let after = cpu_us(server)?;
    let per_task = |from: f64, to: f64| (to - from) / tasks as f64;
    let floor = Floor { enqueue_us: per_task(empty, full), drain_us: per_task(full, after) };
    anyhow::ensure!(began.elapsed().as_secs() < 600, "the floor took longer than ten minutes");
    Ok(floor)
}

fn enqueue(connection: &mut redis::Connection, tasks: usize, payload: usize) -> anyhow::Result<()> {
    let body = "x".repeat(payload);
    for start in (0..tasks).step_by(BATCH) {
        let mut batch = redis::pipe();
        for _ in start..tasks.min(start + BATCH) {
            batch.cmd("XADD").arg(STREAM).arg("*").arg("p").arg(&body).ignore();
        }
        batch.exec(connection)?;
    }
    Ok(())
}

fn drain(connection: &mut redis::Connection) -> anyhow::Result<()> {
    loop {
        let mut read = redis::cmd("XREADGROUP");
        read.arg(&["GROUP", GROUP, "one", "COUNT"]).arg(BATCH).arg(&["STREAMS", STREAM, ">"]);
        let reply: redis::streams::StreamReadReply = match read.query::<Option<_>>(connection)? {
            Some(reply) => reply,
            None => return Ok(()),
        };
        let ids: Vec<String> = reply.keys.into_iter().flat_map(|key| key.ids).map(|entry| entry.id).collect();
        let mut settle = redis::pipe();
        settle.cmd("XACK").arg(STREAM).arg(GROUP).arg(&ids).ignore();
        settle.cmd("XDEL").arg(STREAM).arg(&ids).ignore();
        settle.exec(connection)?;
    }
}
