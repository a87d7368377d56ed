//! A Redis server of the benchmark's own.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// What the store has used so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Server CPU in microseconds; `None` where there is no server.
    pub(crate) cpu_us: Option<f64>,
    /// Memory of the server, or size of the file.
    pub(crate) bytes: u64,
}

pub(crate) struct RedisServer {
    child: Child,
    port: u16,
    // Removed with the server.
    _folder: tempfile::TempDir,
}

impl RedisServer {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"])
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .context("redis-server cannot be started: is it installed?")?;
        let server = Self { child, port, _folder: folder };
        server.await_ready()?;
        Ok(server)
    }

    fn await_ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while let Err(error) = self.connection() {
            anyhow::ensure!(Instant::now() < deadline, "redis-server did not start: {error}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn connection(&self) -> anyhow::Result<redis::Connection> {
        Ok(redis::Client::open(self.url())?.get_connection()?)
    }

    pub(crate) fn flush(&self) -> anyhow::Result<()> {
        Ok(redis::cmd("FLUSHALL").exec(&mut self.connection()?)?)
    }

    /// CPU time of the server so far, in microseconds.
    pub(crate) fn cpu_us(&self) -> anyhow::Result<f64> {
        let cpu = self.info("cpu")?;
        Ok((field(&cpu, "used_cpu_user")? + field(&cpu, "used_cpu_sys")?) * 1e6)
    }

    pub(crate) fn usage(&self) -> anyhow::Result<Usage> {
        let bytes = field(&self.info("memory")?, "used_memory")?;
        Ok(Usage { cpu_us: Some(self.cpu_us()?), bytes: bytes as u64 })
    }

    fn info(&self, section: &str) -> anyhow::Result<String> {
        Ok(redis::cmd("INFO").arg(section).query(&mut self.connection()?)?)
    }
}

fn field(info: &str, name: &str) -> anyhow::Result<f64> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(value.with_context(|| format!("INFO tells no {name}"))?.trim().parse()?)
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
