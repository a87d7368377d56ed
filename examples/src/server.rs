//! A Redis server of an instrument's own.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// What the server has on its disk when it has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appendonly {
    /// Everything: `appendfsync always`.
    Always,
    /// All but about the last second: `appendfsync everysec`.
    Everysec,
    /// Nothing.
    No,
}

/// A server on a free loopback port, with a folder of its own; stopped when dropped.
#[derive(Debug)]
pub struct RedisServer {
    appendonly: Appendonly,
    port: u16,
    child: Child,
    // Removed with the server.
    folder: tempfile::TempDir,
}

impl RedisServer {
    /// Starts a server.
    ///
    /// # Errors
    /// When there is no redis-server, or it does not come up.
    pub fn start(appendonly: Appendonly) -> anyhow::Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(appendonly) {
                // Another process took the port between the look and the server's bind.
                Err(error) if tries < 10 && error.to_string().contains("in use") => tries += 1,
                other => return other,
            }
        }
    }

    fn try_start(appendonly: Appendonly) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let child = spawn(appendonly, port, folder.path())?;
        let mut server = Self { appendonly, port, child, folder };
        server.await_ready()?;
        Ok(server)
    }

    /// Kills it with signal 9.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Starts it again on its port and in its folder, and waits until it has loaded its data.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        self.child = spawn(self.appendonly, self.port, self.folder.path())?;
        self.await_ready()
    }

    fn await_ready(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(30);
        // While it loads, it answers with an error.
        while let Err(error) = self.answers() {
            let ended = self.child.try_wait()?;
            anyhow::ensure!(ended.is_none(), "redis-server ended: {}", self.log());
            anyhow::ensure!(Instant::now() < deadline, "redis-server did not start: {error}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Asks for its process: on a port that another server took in between, that one would answer.
    fn answers(&self) -> anyhow::Result<()> {
        let about: String = redis::cmd("INFO").arg("server").query(&mut self.connection()?)?;
        let mine = format!("process_id:{}", self.child.id());
        anyhow::ensure!(about.lines().any(|line| line.trim_end() == mine), "another server answers on its port");
        Ok(())
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address to connect to.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A connection of the caller's own.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn connection(&self) -> anyhow::Result<redis::Connection> {
        Ok(redis::Client::open(self.url())?.get_connection()?)
    }

    /// What it wrote to its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(LOG)).unwrap_or_default()
    }
}

const LOG: &str = "redis.log";

fn spawn(appendonly: Appendonly, port: u16, folder: &Path) -> anyhow::Result<Child> {
    let (on, fsync) = match appendonly {
        Appendonly::Always => ("yes", "always"),
        Appendonly::Everysec => ("yes", "everysec"),
        Appendonly::No => ("no", "everysec"),
    };
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--logfile", LOG])
        .args(["--appendonly", on, "--appendfsync", fsync])
        .arg("--dir")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // Its log has everything; whoever reads this program's errors must not wait for the server's end.
        .stderr(Stdio::null())
        .spawn()
        .context("redis-server cannot be started: is it installed?")
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
