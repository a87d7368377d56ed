//! What the store has used so far.

use std::path::Path;

use anyhow::Context;
use dtq_examples::RedisServer;
use rusqlite::{Connection, OpenFlags};

/// Work and room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Memory of the server, or of the file's pages those that are in use.
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
    /// Those that wait for news and came back: wake-ups, and waits that ran out.
    pub(crate) waits: f64,
}

impl Usage {
    pub(crate) fn of(server: &RedisServer) -> anyhow::Result<Self> {
        let about = info(server)?;
        let cpu_us = (field(&about, "used_cpu_user")? + field(&about, "used_cpu_sys")?) * 1e6;
        let (sent, called) = commands(&about);
        let waits = calls(&about).find(|(name, _)| *name == "blpop").map_or(0.0, |(_, calls)| calls);
        let server = Some(Server { cpu_us, sent, called, waits });
        Ok(Self { bytes: field(&about, "used_memory")? as u64, server })
    }

    pub(crate) fn of_file(path: &Path) -> anyhow::Result<Self> {
        let file = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let ask = |what: &str| file.pragma_query_value(None, what, |row| row.get::<_, u32>(0)).map(u64::from);
        // The size of the file and its log tells when pages were copied last, and not how many are in use.
        let pages = ask("page_count")? - ask("freelist_count")?;
        Ok(Self { bytes: pages * ask("page_size")?, server: None })
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
    const OWN: [&str; 7] = ["info", "hello", "client|setinfo", "client|setname", "config|set", "ping", "flushall"];
    let (mut sent, mut called) = (0.0, 0.0);
    for (name, calls) in calls(about) {
        match name {
            name if SENT.contains(&name) => sent += calls,
            name if OWN.contains(&name) => {}
            _ => called += calls,
        }
    }
    (sent, called)
}

/// How often each command was called.
fn calls(about: &str) -> impl Iterator<Item = (&str, f64)> {
    about.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name, rest.split(',').next()?.parse().ok()?))
    })
}

fn field(info: &str, name: &str) -> anyhow::Result<f64> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(value.with_context(|| format!("INFO tells no {name}"))?.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_is_told_from_what_scripts_call_and_from_this_programs_questions() {
        let about = "# Commandstats\r\ncmdstat_evalsha:calls=3,usec=9\r\ncmdstat_blpop:calls=2,usec=1\r\n\
                     cmdstat_xadd:calls=7,usec=1\r\ncmdstat_config|set:calls=5,usec=1\r\nused_cpu_sys:1.5\r\n";
        assert_eq!(commands(about), (5.0, 7.0));
        assert_eq!(field(about, "used_cpu_sys").unwrap(), 1.5);
        assert!(field(about, "used_cpu_user").is_err());
    }
}
