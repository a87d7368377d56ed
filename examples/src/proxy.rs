//! A TCP proxy on loopback that does to a connection what networks do.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What happens to everything that passes, until another is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Each byte arrives this much later, in both directions; a round trip takes twice as long more.
    Delay(Duration),
    /// Nothing arrives. Connections stay open, new ones too; what was sent meanwhile arrives when this ends, as after a
    /// partition that TCP outlives.
    BlackHole,
    /// Every connection is reset, new ones at once.
    Refuse,
}

/// A proxy before one port. Ends when dropped, with its connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
    accept: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    server: u16,
    fault: watch::Sender<Fault>,
    /// Changes when all connections are to be reset.
    cuts: watch::Sender<u64>,
    accepted: AtomicUsize,
    trap: Mutex<Option<Trap>>,
}

/// A fault that waits for its moment, then happens once.
#[derive(Debug)]
enum Trap {
    /// The connection ends after half of the next reply.
    TearReply,
    /// The reply to the request that contains this is lost; the server did what was asked.
    LoseReplyTo(Vec<u8>),
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and passes everything on to `server`, a port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn to(server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (fault, cuts) = (watch::Sender::default(), watch::Sender::default());
        let state = Arc::new(State { server, fault, cuts, accepted: AtomicUsize::new(0), trap: Mutex::default() });
        let accept = tokio::spawn(accept(listener, state.clone()));
        Ok(Self { port, state, accept })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of the Redis server behind it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Connections that were accepted so far.
    pub fn accepted(&self) -> usize {
        self.state.accepted.load(Ordering::Relaxed)
    }

    /// Sets what happens from now on.
    pub fn set(&self, fault: Fault) {
        self.state.fault.send_replace(fault);
        if fault == Fault::Refuse {
            self.cut();
        }
    }

    /// Resets every connection that is open now.
    pub fn cut(&self) {
        self.state.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Lets half of the next reply through, then ends its connection.
    pub fn tear_next_reply(&self) {
        self.set_trap(Trap::TearReply);
    }

    /// Loses the reply to the next request that contains `needle`: once the server has answered, the connection ends.
    pub fn lose_reply_to(&self, needle: impl Into<Vec<u8>>) {
        self.set_trap(Trap::LoseReplyTo(needle.into()));
    }

    /// True when the fault of [`Proxy::tear_next_reply`] or [`Proxy::lose_reply_to`] has not happened yet.
    pub fn is_trap_set(&self) -> bool {
        self.state.trap.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set_trap(&self, trap: Trap) {
        *self.state.trap.lock().unwrap_or_else(PoisonError::into_inner) = Some(trap);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accept.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        state.accepted.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(serve(client, state.clone()));
    }
}

/// Serves one connection until either side closes it, or a fault ends it.
async fn serve(mut client: TcpStream, state: Arc<State>) {
    let mut cuts = state.cuts.subscribe();
    let _ = client.set_nodelay(true);
    if *state.fault.borrow() == Fault::Refuse {
        return reset(&client);
    }
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, state.server)).await else { return };
    let _ = server.set_nodelay(true);
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let lose = AtomicBool::new(false);
    let requests = pump(&state, from_client, to_server, |bytes| state.request(bytes, &lose));
    let replies = pump(&state, from_server, to_client, |bytes| state.reply(bytes, &lose));
    let cut = tokio::select! {
        _ = cuts.changed() => true,
        () = requests => false,
        () = replies => false,
    };
    if cut {
        reset(&client);
    }
}

/// Lets the connection end with a reset instead of an orderly end, once it is dropped.
fn reset(client: &TcpStream) {
    let _ = client.set_zero_linger();
}

/// What becomes of a piece of a stream.
enum Passage {
    /// All of it arrives.
    Whole,
    /// So many bytes arrive, then the connection ends.
    Torn(usize),
}

impl State {
    fn request(&self, bytes: &[u8], lose: &AtomicBool) -> Passage {
        let mut trap = self.trap.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Trap::LoseReplyTo(needle)) = &*trap
            && bytes.windows(needle.len()).any(|window| window == needle)
        {
            *trap = None;
            lose.store(true, Ordering::Release);
        }
        Passage::Whole
    }

    fn reply(&self, bytes: &[u8], lose: &AtomicBool) -> Passage {
        if lose.load(Ordering::Acquire) {
            return Passage::Torn(0);
        }
        let mut trap = self.trap.lock().unwrap_or_else(PoisonError::into_inner);
        match *trap {
            Some(Trap::TearReply) => {
                *trap = None;
                Passage::Torn(bytes.len() / 2)
            }
            _ => Passage::Whole,
        }
    }
}

/// Passes bytes on, each piece when its delay is over, so that a delay costs latency and no throughput.
async fn pump(
    state: &State,
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut judge: impl FnMut(&[u8]) -> Passage,
) {
    let (queue, mut queued) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let read = async move {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let delay = match *state.fault.borrow() {
                Fault::Delay(delay) => delay,
                _ => Duration::ZERO,
            };
            let (bytes, last) = match judge(&buffer[..count]) {
                Passage::Whole => (&buffer[..count], false),
                Passage::Torn(length) => (&buffer[..length], true),
            };
            if queue.send((Instant::now() + delay, bytes.to_vec())).is_err() || last {
                return;
            }
        }
    };
    let write = async move {
        let mut fault = state.fault.subscribe();
        while let Some((due, bytes)) = queued.recv().await {
            tokio::time::sleep_until(due).await;
            // The sender outlives every connection.
            let _ = fault.wait_for(|fault| *fault != Fault::BlackHole).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each piece with the same piece, and a proxy before it.
    async fn echo() -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        Proxy::to(port).await.unwrap()
    }

    async fn connection(proxy: &Proxy) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await.unwrap()
    }

    /// What comes back, up to a reset or an end.
    async fn answer(stream: &mut TcpStream, question: &[u8]) -> Vec<u8> {
        let mut answer = vec![0; question.len()];
        let mut got = 0;
        if stream.write_all(question).await.is_ok() {
            while got < answer.len() {
                let Ok(count @ 1..) = stream.read(&mut answer[got..]).await else { break };
                got += count;
            }
        }
        answer.truncate(got);
        answer
    }

    #[tokio::test]
    async fn bytes_pass_and_a_delay_delays_both_ways() {
        let proxy = echo().await;
        let mut stream = connection(&proxy).await;
        assert_eq!(answer(&mut stream, b"plain").await, b"plain");
        proxy.set(Fault::Delay(Duration::from_millis(20)));
        let began = Instant::now();
        assert_eq!(answer(&mut stream, b"late").await, b"late");
        assert!(began.elapsed() >= Duration::from_millis(40));
    }

    #[tokio::test]
    async fn a_black_hole_keeps_what_was_sent() {
        let proxy = echo().await;
        let mut stream = connection(&proxy).await;
        proxy.set(Fault::BlackHole);
        stream.write_all(b"held").await.unwrap();
        let mut first = [0; 1];
        assert!(tokio::time::timeout(Duration::from_millis(20), stream.read(&mut first)).await.is_err());
        proxy.set(Fault::None);
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"h");
    }

    #[tokio::test]
    async fn a_cut_and_a_refusal_reset_connections() {
        let proxy = echo().await;
        let mut stream = connection(&proxy).await;
        assert_eq!(answer(&mut stream, b"x").await, b"x");
        proxy.cut();
        assert_eq!(answer(&mut stream, b"x").await, b"");
        proxy.set(Fault::Refuse);
        assert_eq!(answer(&mut connection(&proxy).await, b"x").await, b"");
        proxy.set(Fault::None);
        assert_eq!(answer(&mut connection(&proxy).await, b"x").await, b"x");
        assert_eq!(proxy.accepted(), 3);
    }

    #[tokio::test]
    async fn one_reply_is_torn_or_lost() {
        let proxy = echo().await;
        proxy.tear_next_reply();
        assert_eq!(answer(&mut connection(&proxy).await, b"torn").await, b"to");
        proxy.lose_reply_to(*b"needle");
        assert_eq!(answer(&mut connection(&proxy).await, b"other").await, b"other");
        assert!(proxy.is_trap_set());
        assert_eq!(answer(&mut connection(&proxy).await, b"a needle").await, b"");
        assert!(!proxy.is_trap_set());
        assert_eq!(answer(&mut connection(&proxy).await, b"a needle").await, b"a needle");
    }
}
