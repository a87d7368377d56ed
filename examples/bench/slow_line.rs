//! A line on loopback on which everything arrives later. Threads, and no runtime: a runtime's timers are too coarse for
//! fractions of a millisecond.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Ends with the program.
pub(crate) struct SlowLine {
    port: u16,
}

impl SlowLine {
    /// Passes everything on to `server`, a port of loopback, `delay` later each way.
    pub(crate) fn to(server: u16, delay: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // A connection that cannot be served is closed: the client sees that.
                let _ = client.and_then(|client| serve(client, server, delay));
            }
        });
        Ok(Self { port })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

fn serve(client: TcpStream, server: u16, delay: Duration) -> std::io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    pass_on(client.try_clone()?, server.try_clone()?, delay);
    pass_on(server, client, delay);
    Ok(())
}

/// Reads at once and writes when the delay is over, so that a delay costs latency and no throughput.
fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (queue, queued) = mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if queue.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in queued {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}
