//! What the store has used so far.

use anyhow::Context;
use dtq_examples::RedisServer;

/// Work and room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Memory of the server, or size of the file with its write-ahead log.
    pub(crate) bytes: u64,
    /// `None` where there is no server.
    pub(crate) server: Option<Server>,
}

/// Work of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    /// CPU time in microseconds.
    pub(crate) cpu_us: f64,
    /// Commands that it was sent.
    pub(crate) sent: f64,
    /// Commands that scripts called.
    pub(crate) called: f64,
}

impl Usage {
    pub(crate) fn of(server: &RedisServer) -> anyhow::Result<Self> {
        let about = info(server)?;
        let cpu_us = (field(&about, "used_cpu_user")? + field(&about, "used_cpu_sys")?) * 1e6;
        let (sent, called) = commands(&about);
        Ok(Self { bytes: field(&about, "used_memory")? as u64, server: Some(Server { cpu_us, sent, called }) })
    }
}

/// CPU time of the server so far, in microseconds.
pub(crate) fn cpu_us(server: &RedisServer) -> anyhow::Result<f64> {
    let about = info(server)?;
    Ok((field(&about, "used_cpu_user")? + field(&about, "used_cpu_sys")?) * 1e6)
}

fn info(server: &RedisServer) -> anyhow::Result<String> {
    Ok(redis::cmd("INFO").arg("everything").query(&mut server.connection()?)?)
}

/// Commands that clients sent, and commands that scripts called; this program's own questions left out.
fn commands(about: &str) -> (f64, f64) {
    // None of these is called by a script.
    const SENT: [&str; 8] = ["evalsha", "eval", "blpop", "publish", "subscribe", "smembers", "xread", "multi"];
    const OWN: [&str; 6] = ["info", "hello", "client|setinfo", "client|setname", "ping", "flushall"];
    let (mut sent, mut called) = (0.0, 0.0);
    for (name, rest) in about.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(":calls=")) {
        let calls = rest.split(',').next().and_then(|calls| calls.parse::<f64>().ok()).unwrap_or(0.0);
        match name {
            name if SENT.contains(&name) => sent += calls,
            name if OWN.contains(&name) => {}
            _ => called += calls,
        }
    }
    (sent, called)
}

fn field(info: &str, name: &str) -> anyhow::Result<f64> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(value.with_context(|| format!("INFO tells no {name}"))?.trim().parse()?)
}
