//! What the store has used so far.

use anyhow::Context;
use dtq_examples::RedisServer;

/// Work and room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Server CPU in microseconds; `None` where there is no server.
    pub(crate) cpu_us: Option<f64>,
    /// Memory of the server, or size of the file.
    pub(crate) bytes: u64,
}

impl Usage {
    pub(crate) fn of(server: &RedisServer) -> anyhow::Result<Self> {
        let bytes = field(&info(server, "memory")?, "used_memory")?;
        Ok(Self { cpu_us: Some(cpu_us(server)?), bytes: bytes as u64 })
    }
}

/// CPU time of the server so far, in microseconds.
pub(crate) fn cpu_us(server: &RedisServer) -> anyhow::Result<f64> {
    let cpu = info(server, "cpu")?;
    Ok((field(&cpu, "used_cpu_user")? + field(&cpu, "used_cpu_sys")?) * 1e6)
}

/// Removes everything from the server.
pub(crate) fn flush(server: &RedisServer) -> anyhow::Result<()> {
    Ok(redis::cmd("FLUSHALL").exec(&mut server.connection()?)?)
}

fn info(server: &RedisServer, section: &str) -> anyhow::Result<String> {
    Ok(redis::cmd("INFO").arg(section).query(&mut server.connection()?)?)
}

fn field(info: &str, name: &str) -> anyhow::Result<f64> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(value.with_context(|| format!("INFO tells no {name}"))?.trim().parse()?)
}
