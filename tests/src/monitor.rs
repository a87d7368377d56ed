//! Watches what a redis-server executes, in order.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::RedisServer;

/// A running `MONITOR`: commands sent by clients and by scripts, in the order of their execution.
#[derive(Debug)]
pub struct Monitor {
    lines: BufReader<TcpStream>,
}

impl Monitor {
    /// Begins to watch.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn start(server: &RedisServer) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("connect for MONITOR");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set a read timeout");
        stream.write_all(b"MONITOR\r\n").expect("send MONITOR");
        let mut monitor = Self { lines: BufReader::new(stream) };
        assert_eq!(monitor.line(), "+OK");
        monitor
    }

    /// Everything executed since the last look: command lines without time and address, such as `"XACK" "key" …`.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn seen(&mut self, server: &RedisServer) -> Vec<String> {
        self.seen_by(server).into_iter().map(|(_, command)| command).collect()
    }

    /// The same, each with who sent it: an address, or `lua`.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn seen_by(&mut self, server: &RedisServer) -> Vec<(String, String)> {
        let mark = uuid::Uuid::new_v4().to_string();
        let _: String = server.command(&["ECHO", &mark]);
        let mut seen = Vec::new();
        loop {
            let line = self.line();
            if line.contains(&mark) {
                return seen;
            }
            if let Some((head, command)) = line.split_once("] ") {
                let who = head.rsplit(' ').next().unwrap_or_default();
                seen.push((who.to_owned(), command.to_owned()));
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line from MONITOR");
        line.trim_end().to_owned()
    }
}
