//! A redis-server of a test's own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{ServerClock, TempDir, eventually};

/// A kind of server. The tests ask for one by name, and fail when it is not there: `tests/fetch-servers.sh` fetches those
/// that the system does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// The system's redis-server, such as 7.0.
    System,
    /// Valkey 9.1.
    Valkey9,
    /// Redis 8.6.
    Redis8,
}

impl ServerKind {
    fn program(self) -> PathBuf {
        let name = match self {
            Self::System => return "redis-server".into(),
            Self::Valkey9 => "valkey-9.1",
            Self::Redis8 => "redis-8.6",
        };
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers").join(name);
        assert!(file.exists(), "{} is missing: run tests/fetch-servers.sh", file.display());
        file
    }
}

/// A server on a free loopback port, without persistence, with a movable clock; stopped when dropped.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    port: u16,
    clock: ServerClock,
    dir: TempDir,
    kind: ServerKind,
    arguments: Vec<String>,
    /// How long its log was when it was started last.
    began: usize,
}

impl RedisServer {
    /// Starts a server.
    ///
    /// # Panics
    /// When no server comes up.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with further arguments, for example `["--requirepass", "secret"]`.
    ///
    /// # Panics
    /// When no server comes up.
    pub async fn start_with(arguments: &[&str]) -> Self {
        Self::start_kind(ServerKind::System, arguments).await
    }

    /// Starts a server of a kind, with further arguments.
    ///
    /// # Panics
    /// When no server comes up.
    pub async fn start_kind(kind: ServerKind, arguments: &[&str]) -> Self {
        // Another process may take the port between the look and the server's bind: then try another one.
        for _ in 0..10 {
            let mut server = Self::spawn(kind, arguments);
            if server.comes_up().await {
                return server;
            }
            assert!(server.log().contains("in use"), "redis-server did not start:\n{}", server.log());
        }
        panic!("no free port for redis-server after ten tries");
    }

    fn spawn(kind: ServerKind, arguments: &[&str]) -> Self {
        let dir = TempDir::new();
        let clock = ServerClock::new(dir.path());
        let port = free_port();
        let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
        let child = Self::child(kind, port, &clock, &dir, &arguments);
        Self { child, port, clock, dir, kind, arguments, began: 0 }
    }

    fn child(kind: ServerKind, port: u16, clock: &ServerClock, dir: &TempDir, arguments: &[String]) -> Child {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(dir.path().join("log"));
        let log = log.expect("make the server's log");
        let mut command = Command::new(kind.program());
        clock.preload_into(&mut command);
        command
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .arg("--dir")
            .arg(dir.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("share the server's log"))
            .stdout(log);
        command.spawn().expect("start redis-server: is it installed?")
    }

    /// Kills it, with signal 9.
    ///
    /// # Panics
    /// When that is not possible.
    pub fn kill(&mut self) {
        self.child.kill().expect("kill redis-server");
        self.child.wait().expect("wait for redis-server");
    }

    /// Starts it again on its port and in its folder: with `--appendonly yes` it has its data again.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start_again(&mut self) {
        self.begin_again();
        assert!(self.comes_up().await, "redis-server did not come back:\n{}", self.log());
    }

    /// The same, without waiting: it may refuse connections for a moment, and then tell that it reads its data.
    ///
    /// # Panics
    /// When there is no such program.
    pub fn begin_again(&mut self) {
        self.began = self.log().len();
        self.child = Self::child(self.kind, self.port, &self.clock, &self.dir, &self.arguments);
    }

    /// True once it answers, false when it ended.
    async fn comes_up(&mut self) -> bool {
        let (port, began, log) = (self.port, self.began, self.dir.path().join("log"));
        let child = &mut self.child;
        eventually("redis-server answers", move || {
            let ended = child.try_wait().expect("look after redis-server").is_some();
            // Its own word first: on a port that another server took in between, that one would answer.
            let ready = || log_of(&log).get(began..).is_some_and(|new| new.contains("Ready to accept connections"));
            let answer = if ended { Some(false) } else { (ready() && answers(port)).then_some(true) };
            std::future::ready(answer)
        })
        .await
    }

    /// The address to connect to.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// The address to connect to with `user:password`, or `:password`.
    pub fn url_as(&self, who: &str) -> String {
        format!("redis://{who}@127.0.0.1:{}/", self.port)
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its files.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Stops it in its tracks: connections stay open and nothing answers.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`RedisServer::pause`].
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.expect("run kill").success(), "kill {signal} failed");
    }

    /// Moves its clock forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// What the server wrote to its log.
    pub fn log(&self) -> String {
        log_of(&self.dir.path().join("log"))
    }

    /// Sends one command over a connection of its own.
    ///
    /// # Panics
    /// When the server answers with an error, or with something else than `T`.
    pub fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Sends one command over a connection of its own.
    ///
    /// # Errors
    /// What the server answers.
    pub fn try_command<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let mut connection = redis::Client::open(self.url())?.get_connection()?;
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut connection)
    }

    /// All keys, sorted.
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.command(&["KEYS", "*"]);
        keys.sort();
        keys
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("log of redis-server on port {}:\n{}", self.port, self.log());
        }
    }
}

fn log_of(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("find a free port");
    listener.local_addr().expect("its address").port()
}

/// True when something on this port answers PING, be it with an error, and does not read its data any more.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut first = [0_u8; 4];
    let answered = stream.write_all(b"PING\r\n").is_ok() && stream.read_exact(&mut first).is_ok();
    answered && matches!(first[0], b'+' | b'-') && &first != b"-LOA"
}
