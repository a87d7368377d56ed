//! Connections: one that all callers share, and extra ones for commands that block.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::AsyncPushSender;
use redis::{Client, Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::runtime::{self, Handle};

use super::RedisOptions;
use super::address::Address;
use super::dial::Connection;
use super::fault;
use super::scripts::Script;
use crate::failpoint;
use crate::store::{Result, StoreError};

/// Runtimes whose connections are kept: one, for all but test programs.
const RUNTIMES: usize = 8;

/// The way to a server. Connects when first used, and again after a failure.
pub(super) struct Link {
    client: Client,
    address: Address,
    options: RedisOptions,
    /// The runtime that drives the connections, when it is not the caller's.
    home: Option<Handle>,
    shared: Mutex<Shared>,
    /// Held while connecting, so that a hundred callers open one connection; by the runtime that drives it, so that one
    /// that stands still holds up no other.
    dialing: Mutex<HashMap<runtime::Id, Arc<tokio::sync::Mutex<()>>>>,
    /// A connection for a command that blocks, while none uses it, and the runtime that drives it.
    aside: Mutex<Option<(runtime::Id, Connection)>>,
}

#[derive(Default)]
struct Shared {
    /// By the runtime that drives it: a connection is deaf once its runtime is gone, or stands still.
    connections: HashMap<runtime::Id, (Connection, u64)>,
    /// How often a connection was tried. Tells connections apart: a failure of an older one must not drop a newer one.
    dials: u64,
    /// Why the latest try failed.
    failure: Option<RedisError>,
}

impl Link {
    pub(super) fn new(client: Client, address: Address, options: RedisOptions, home: Option<Handle>) -> Self {
        let (shared, dialing, aside) = Default::default();
        Self { client, address, options, home, shared, dialing, aside }
    }

    /// Another way to the same server, driven by `home`.
    pub(super) fn driven_by(&self, home: Handle) -> Self {
        Self::new(self.client.clone(), self.address.clone(), self.options.clone(), Some(home))
    }

    /// The server's address as it may be shown.
    pub(super) fn address(&self) -> &str {
        self.address.as_str()
    }

    pub(super) fn options(&self) -> &RedisOptions {
        &self.options
    }

    /// The runtime for tasks of this link's own.
    pub(super) fn runtime(&self) -> Handle {
        self.home.clone().unwrap_or_else(Handle::current)
    }

    /// Begins a call of `script` on the keys under `root`.
    pub(super) fn call(script: &Script, root: &str) -> Cmd {
        script.call(root)
    }

    /// Runs a call begun with [`Link::call`], with the script's text when the server does not know it.
    pub(super) async fn eval(&self, operation: &'static str, script: &Script, call: &Cmd) -> Result<Value> {
        self.on_shared(operation, async |mut connection| {
            let answer = match call.query_async(&mut connection).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    script.with_text(call).query_async(&mut connection).await?
                }
                outcome => outcome?,
            };
            if failpoint::reach(operation, "applied") {
                return Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
            }
            Ok(answer)
        })
        .await
    }

    /// Runs one command.
    pub(super) async fn run(&self, operation: &'static str, command: &Cmd) -> Result<Value> {
        self.on_shared(operation, async |mut connection| command.query_async(&mut connection).await).await
    }

    /// Runs commands in one round trip.
    pub(super) async fn run_all(&self, operation: &'static str, commands: &Pipeline) -> Result<Vec<Value>> {
        self.on_shared(operation, async |mut connection| commands.query_async(&mut connection).await).await
    }

    async fn on_shared<T, F: Future<Output = RedisResult<T>>>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Connection) -> F,
    ) -> Result<T> {
        let (connection, number) = self.shared(operation).await?;
        work(connection).await.map_err(|error| {
            if fault::breaks_connection(&error) {
                self.drop_shared(number);
            }
            fault::explain(operation, &self.address, self.options.response_timeout, &error)
        })
    }

    async fn shared(&self, operation: &'static str) -> Result<(Connection, u64)> {
        if let Some(found) = self.present() {
            return Ok(found);
        }
        let before = self.lock_shared().dials;
        let dialing = self.dialing();
        let _dialing = dialing.lock().await;
        if let Some(found) = self.present() {
            return Ok(found);
        }
        // Whoever dialed while this caller stood in line failed for everybody in it; otherwise each would wait in turn.
        let failed = Some(self.lock_shared()).filter(|shared| shared.dials > before).and_then(|it| it.failure.clone());
        if let Some(failure) = failed {
            return Err(self.explain_dial(operation, &failure));
        }
        let dialed = self.dial(Some(self.options.response_timeout)).await;
        let mut shared = self.lock_shared();
        shared.dials += 1;
        shared.failure = dialed.as_ref().err().cloned();
        let connection = dialed.map_err(|error| self.explain_dial(operation, &error))?;
        if shared.connections.len() >= RUNTIMES {
            // Most likely of runtimes that are gone; one that is not dials again.
            shared.connections.clear();
        }
        let number = shared.dials;
        shared.connections.insert(self.runtime().id(), (connection.clone(), number));
        Ok((connection, number))
    }

    fn dialing(&self) -> Arc<tokio::sync::Mutex<()>> {
        let mut dialing = self.dialing.lock().unwrap_or_else(PoisonError::into_inner);
        if dialing.len() >= RUNTIMES {
            // Those that are held go on by themselves.
            dialing.clear();
        }
        dialing.entry(self.runtime().id()).or_default().clone()
    }

    fn lock_shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present(&self) -> Option<(Connection, u64)> {
        let shared = self.lock_shared();
        shared.connections.get(&self.runtime().id()).filter(|(connection, _)| connection.is_open()).cloned()
    }

    fn drop_shared(&self, number: u64) {
        self.lock_shared().connections.retain(|_, (_, kept)| *kept != number);
    }

    /// Opens a connection on which commands may block.
    pub(super) async fn blocking(&self, operation: &'static str) -> Result<Connection> {
        self.dial(None).await.map_err(|error| self.explain_dial(operation, &error))
    }

    /// Opens a connection on which the server says things by itself, which go to `listener`.
    pub(super) async fn listening(
        &self,
        operation: &'static str,
        listener: Arc<dyn AsyncPushSender>,
    ) -> Result<Connection> {
        let opened = Connection::open_to(&self.client, self.options.connect_timeout, listener).await;
        opened.map_err(|error| self.explain_dial(operation, &error))
    }

    /// Runs a command that blocks for `block` at most. After an error the connection is of no use any more.
    pub(super) async fn run_blocking(
        &self,
        operation: &'static str,
        connection: &mut Connection,
        command: &Cmd,
        block: Duration,
    ) -> Result<Value> {
        let limit = block + self.options.response_timeout;
        match tokio::time::timeout(limit, command.query_async(connection)).await {
            Ok(outcome) => outcome.map_err(|error| fault::explain(operation, &self.address, limit, &error)),
            Err(_) => Err(StoreError::Timeout { operation, store: self.address.to_string(), after: limit }),
        }
    }

    /// Runs a command that blocks, on a connection that nothing else uses meanwhile. When the caller leaves before its
    /// end, the connection is closed and with it the block.
    pub(super) async fn run_aside(&self, operation: &'static str, command: &Cmd, block: Duration) -> Result<Value> {
        let runtime = self.runtime().id();
        let idle = self.aside.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut connection = match idle {
            Some((driver, connection)) if driver == runtime && connection.is_open() => connection,
            _ => self.blocking(operation).await?,
        };
        let answer = self.run_blocking(operation, &mut connection, command, block).await?;
        *self.aside.lock().unwrap_or_else(PoisonError::into_inner) = Some((runtime, connection));
        Ok(answer)
    }

    async fn dial(&self, response: Option<Duration>) -> RedisResult<Connection> {
        let (client, limit) = (self.client.clone(), self.options.connect_timeout);
        let dial = async move { Connection::open(&client, limit, response).await };
        // The task that drives a connection belongs to the runtime that opens it.
        match &self.home {
            None => dial.await,
            Some(home) => home.spawn(dial).await.unwrap_or_else(|error| Err(io::Error::other(error).into())),
        }
    }

    fn explain_dial(&self, operation: &'static str, error: &RedisError) -> StoreError {
        if error.is_timeout() {
            let limit = humantime::format_duration(self.options.connect_timeout);
            return self.unreachable(operation, format!("no connection within {limit}"));
        }
        match fault::explain(operation, &self.address, self.options.connect_timeout, error) {
            StoreError::Unreachable { operation, store, detail } if error.is_connection_refusal() => {
                let detail = format!("{detail}: nothing listens there; start the server, or look at the URL");
                StoreError::Unreachable { operation, store, detail }
            }
            // Where no more clients are let in, the connection often breaks before the server's word is read.
            StoreError::Unreachable { operation, store, detail } if error.is_connection_dropped() => {
                let detail = format!("{detail}: a new connection broke at once; look for the server's maxclients");
                StoreError::Unreachable { operation, store, detail }
            }
            other => other,
        }
    }

    /// The error for a connection that ended.
    pub(super) fn broken(&self, operation: &'static str) -> StoreError {
        self.unreachable(operation, "the connection broke".to_owned())
    }

    fn unreachable(&self, operation: &'static str, detail: String) -> StoreError {
        StoreError::Unreachable { operation, store: self.address.to_string(), detail }
    }

    /// The error for data that is not of the form this version writes.
    pub(super) fn corrupt(&self, operation: &'static str, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { operation, store: self.address.to_string(), detail: detail.into() }
    }

    /// The error for a server that cannot serve.
    pub(super) fn unusable(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Unusable { store: self.address.to_string(), detail: detail.into() }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("address", &self.address.to_string()).finish_non_exhaustive()
    }
}
