//! Sending messages to programs that know nothing of dtq: to streams, lists and channels.
//!
//! ```no_run
//! use dtq::publish::{Destination, Outgoing, Publisher};
//!
//! #[derive(serde::Serialize)]
//! struct Order { id: u64, cents: u64 }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let publisher = Publisher::connect("redis://127.0.0.1:6379")?;
//! let order = Outgoing::json(Destination::stream("orders"), &Order { id: 17, cents: 500 })?.header("trace", "7f3a");
//! publisher.publish(order.clone()).await?;
//! // One step of the server: both, or neither.
//! publisher.transaction([order, Outgoing::text(Destination::list("jobs"), "print 17")]).await?;
//! # Ok(()) }
//! ```

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;

pub use crate::store::messages::{Body, Destination, Outgoing, Published};

use crate::client::Client;
use crate::connect;
use crate::store::messages::Broker;
use crate::store::{BATCH, StoreError};

/// A connection to a server of messages. Cheap to clone; clones share the connection.
#[derive(Debug, Clone)]
pub struct Publisher {
    broker: Arc<dyn Broker>,
}

impl Publisher {
    /// A publisher to the server at `redis://HOST:PORT/DB` or `unix:PATH`, which is reached at the first call.
    ///
    /// # Errors
    /// When the URL is not understood, or names a store that has no messages.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        connect::broker(url).map(|broker| Self { broker })
    }

    /// A publisher to the server that a client's tasks are on; `None` when the store is an embedded one.
    pub fn of(client: &Client) -> Option<Self> {
        client.store().broker().map(|broker| Self { broker })
    }

    /// Sends one message.
    ///
    /// To a channel on which nobody listens the answer is [`Published::Receivers`] of 0: the message is lost, and a warning is
    /// logged.
    ///
    /// # Errors
    /// When the server fails, or cannot take such a message. After a failure it may have been taken all the same.
    pub async fn publish(&self, message: Outgoing) -> Result<Published, StoreError> {
        let mut answers = self.send(vec![message], false).await?;
        answers.pop().ok_or_else(|| self.unanswered())
    }

    /// Sends messages in the order given, in one round trip per 128; the answers stand in the same order.
    ///
    /// # Errors
    /// The first thing that went wrong: what came before it has been taken, and some of what came after may have been.
    pub async fn publish_all(
        &self,
        messages: impl IntoIterator<Item = Outgoing>,
    ) -> Result<Vec<Published>, StoreError> {
        let (mut left, mut answers) = (messages.into_iter(), Vec::new());
        loop {
            let batch: Vec<_> = left.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(answers);
            }
            answers.extend(self.send(batch, false).await?);
        }
    }

    /// Sends messages in one step of the server (`MULTI`, `EXEC`): nobody sees some of them without the others.
    ///
    /// # Errors
    /// When the server fails or refuses the transaction: then it has taken none of them, unless the answer was lost.
    pub async fn transaction(
        &self,
        messages: impl IntoIterator<Item = Outgoing>,
    ) -> Result<Vec<Published>, StoreError> {
        self.send(messages.into_iter().collect(), true).await
    }

    async fn send(&self, messages: Vec<Outgoing>, atomic: bool) -> Result<Vec<Published>, StoreError> {
        let channels: Vec<_> = messages.iter().map(|message| channel(&message.to)).collect();
        let answers = self.broker.publish(messages, atomic).await?;
        for (channel, answer) in channels.into_iter().zip(&answers) {
            if let (Some(channel), Published::Receivers(0)) = (channel, answer) {
                tracing::warn!(channel, "a message was published and nobody was subscribed: it is lost");
            }
        }
        Ok(answers)
    }

    fn unanswered(&self) -> StoreError {
        let (operation, store) = ("publish", self.broker.address().to_owned());
        StoreError::Corrupt { operation, store, detail: "no answer to a message".into() }
    }
}

fn channel(to: &Destination) -> Option<String> {
    match to {
        Destination::Channel { name, .. } => Some(name.clone()),
        _ => None,
    }
}

impl Outgoing {
    /// A message of this payload.
    pub fn bytes(to: Destination, payload: impl Into<Bytes>) -> Self {
        Self { to, headers: Vec::new(), body: Body::Payload(payload.into()) }
    }

    /// A message of text.
    pub fn text(to: Destination, payload: impl Into<String>) -> Self {
        Self::bytes(to, payload.into())
    }

    /// A message whose payload is a value as JSON.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(to: Destination, payload: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(payload).map(|bytes| Self::bytes(to, bytes))
    }

    /// A stream's entry of these fields.
    pub fn fields<N: Into<Bytes>, V: Into<Bytes>>(to: Destination, fields: impl IntoIterator<Item = (N, V)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { to, headers: Vec::new(), body: Body::Fields(fields) }
    }

    /// Adds a header. In a stream it becomes a field under the prefix of headers; a value in a list or a channel gets a head, as
    /// `docs/settlement.md` describes it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl Destination {
    /// A stream. A payload is its field `payload`, and headers begin with `h:`.
    pub fn stream(key: impl Into<String>) -> Self {
        Self::Stream { key: key.into(), payload: "payload".into(), headers: "h:".into(), max_len: None }
    }

    /// A list.
    pub fn list(key: impl Into<String>) -> Self {
        Self::List { key: key.into() }
    }

    /// A channel.
    pub fn channel(name: impl Into<String>) -> Self {
        Self::Channel { name: name.into(), sharded: false }
    }

    /// A channel of a shard.
    pub fn sharded(name: impl Into<String>) -> Self {
        Self::Channel { name: name.into(), sharded: true }
    }
}
