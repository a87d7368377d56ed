//! Opening connections. They are driven here rather than by the client library, which does not tell whether a connection
//! still lives: one that died while nobody used it must not cost its next caller an error.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_ok;
use redis::aio::{AsyncPushSender, ConnectionLike, MultiplexedConnection, SendError};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, Pipeline, ProtocolVersion, PushInfo, RedisFuture, RedisResult,
    Value,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

/// A connection that any number of callers may share. It is closed when the last of them drops it.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pipe: MultiplexedConnection,
    driver: Arc<AbortOnDropHandle<()>>,
}

impl Connection {
    /// Opens one within `limit`; `response` bounds the wait for each answer. The runtime that calls this drives it.
    pub(super) async fn open(client: &Client, limit: Duration, response: Option<Duration>) -> RedisResult<Self> {
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(response);
        Self::open_with(client, limit, config).await
    }

    /// Opens one on which the server may say something by itself: it goes to `listener`. For that, both speak the newer
    /// protocol.
    pub(super) async fn open_to(
        client: &Client,
        limit: Duration,
        listener: Arc<dyn AsyncPushSender>,
    ) -> RedisResult<Self> {
        let info = client.get_connection_info().clone();
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(info.set_redis_settings(settings))?;
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        Self::open_with(&client, limit, config.set_push_sender(Listener(listener))).await
    }

    async fn open_with(client: &Client, limit: Duration, config: AsyncConnectionConfig) -> RedisResult<Self> {
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        tokio::time::timeout(limit, connect(client, config)).await.map_err(late)?
    }

    /// False once the other side, or something in between, has closed it.
    pub(super) fn is_open(&self) -> bool {
        !self.driver.is_finished()
    }
}

/// A listener as the client library takes it.
struct Listener(Arc<dyn AsyncPushSender>);

impl AsyncPushSender for Listener {
    fn send(&self, info: PushInfo) -> Result<(), SendError> {
        self.0.send(info)
    }
}

async fn connect(client: &Client, config: AsyncConnectionConfig) -> RedisResult<Connection> {
    match client.get_connection_info().addr() {
        ConnectionAddr::Tcp(host, port) => {
            // All at once: an address that swallows everything must not hold up one that answers.
            let addresses = tokio::net::lookup_host((host.as_str(), *port)).await?;
            let connects: Vec<_> = addresses.map(|address| Box::pin(TcpStream::connect(address))).collect();
            if connects.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "its name has no address").into());
            }
            let (stream, _) = select_ok(connects).await?;
            // Nagle's algorithm would hold back the end of every batch for the peer's delayed acknowledgement.
            stream.set_nodelay(true)?;
            drive(client, config, stream).await
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => drive(client, config, tokio::net::UnixStream::connect(path).await?).await,
        _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
    }
}

async fn drive<S>(client: &Client, config: AsyncConnectionConfig, stream: S) -> RedisResult<Connection>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let settings = client.get_connection_info().redis_settings();
    let (pipe, driver) = MultiplexedConnection::new_with_config(settings, stream, config).await?;
    Ok(Connection { pipe, driver: Arc::new(spawn(driver)) })
}

fn spawn(driver: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(driver))
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        self.pipe.req_packed_command(command)
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.pipe.req_packed_commands(commands, offset, count)
    }

    fn get_db(&self) -> i64 {
        self.pipe.get_db()
    }
}
