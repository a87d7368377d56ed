//! What a handler may ask about the message it was given, and settle it by hand.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::def::SubscriberDef;
use crate::shared_state::States;
use crate::store::StoreError;
use crate::store::messages::{Ending, Settling};
use crate::types::{Form, Incoming, ListForm};

/// One delivery of a message. Cheap to clone.
#[derive(Clone)]
pub struct Message {
    inner: Arc<Inner>,
}

struct Inner {
    incoming: Incoming,
    place: Place,
    states: Arc<States>,
    cancellation: CancellationToken,
    settler: Option<Arc<dyn Settle>>,
    settled: AtomicBool,
    begun: OnceLock<Instant>,
}

/// What a message knows of its subscriber.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    form: Form,
    max_attempts: Option<u32>,
    timeout: Option<Duration>,
}

impl Place {
    pub(crate) fn of(def: &SubscriberDef) -> Self {
        Self { form: def.form, max_attempts: def.max_attempts, timeout: def.timeout }
    }
}

/// How the worker settles a message.
#[async_trait]
pub(crate) trait Settle: Send + Sync + 'static {
    async fn settle(&self, message: &Incoming, ending: Ending) -> Result<Settling, StoreError>;
}

/// One message, ready to be handled.
#[derive(Debug)]
pub struct MessageCall {
    /// The message.
    pub message: Message,
}

/// Why a message could not be settled by hand.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AckError {
    /// There is nothing to acknowledge.
    #[error(
        "a message of a {form} cannot be acknowledged, retried or dropped: it was gone from the server once it was read"
    )]
    Unsupported {
        /// The name of the form it came through, such as `list`.
        form: &'static str,
    },
    /// It was settled by hand before.
    #[error("the message is settled already")]
    Settled,
    /// It belongs to another consumer by now, and nothing was changed.
    #[error("the message belongs to another consumer by now (was this worker paused longer than min_idle?)")]
    Lost,
    /// The server failed. What the handler returns settles the message.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Message {
    pub(crate) fn new(
        incoming: Incoming,
        place: Place,
        states: Arc<States>,
        cancellation: CancellationToken,
        settler: Arc<dyn Settle>,
    ) -> Self {
        let (settler, settled, begun) = (Some(settler), AtomicBool::new(false), OnceLock::new());
        Self { inner: Arc::new(Inner { incoming, place, states, cancellation, settler, settled, begun }) }
    }

    /// A message of no server, for calling a subscriber's function by hand, as unit tests do: its first attempt, without
    /// headers, never cancelled. Settling it is accepted, and does nothing.
    pub fn detached(payload: impl Into<Bytes>) -> Self {
        let incoming = Incoming { payload: Some(payload.into()), deliveries: 1, ..Incoming::default() };
        let form = Form::ReliableList(ListForm::new("detached"));
        let inner = Inner {
            incoming,
            place: Place { form, max_attempts: None, timeout: None },
            states: Arc::default(),
            cancellation: CancellationToken::new(),
            settler: None,
            settled: AtomicBool::new(false),
            begun: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The id of its entry, when it came from a stream. A copy has another one: the first id is in the header `dtq-id`.
    pub fn id(&self) -> Option<&str> {
        self.inner.incoming.id.as_deref()
    }

    /// The stream, the list or the channel it came through.
    pub fn source(&self) -> &str {
        &self.inner.incoming.source
    }

    /// Where the subscriber's messages come from.
    pub fn form(&self) -> &Form {
        &self.inner.place.form
    }

    /// The header of that name; in a stream, the field whose name is the prefix and this.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.inner.incoming.header(name).map(Bytes::as_ref)
    }

    /// The header of that name, when it is text.
    pub fn header_text(&self, name: &str) -> Option<&str> {
        self.inner.incoming.header_text(name)
    }

    /// All headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.inner.incoming.headers.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// The fields of a stream's entry that are no headers, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.inner.incoming.fields.iter().map(|(name, value)| (name.as_ref(), value.as_ref()))
    }

    /// The payload; `None` for a stream's entry with several fields, none of which is the payload's.
    pub fn payload(&self) -> Option<&Bytes> {
        self.inner.incoming.payload.as_ref()
    }

    /// Which attempt this is; the first is 1. Copies carry their number with them; the server's own count is added to it.
    pub fn attempt(&self) -> u32 {
        self.inner.incoming.attempt()
    }

    /// Attempts before the message is given up, where there is a bound.
    pub fn max_attempts(&self) -> Option<u32> {
        self.inner.place.max_attempts
    }

    /// True when an error now would be final.
    pub fn is_last_attempt(&self) -> bool {
        self.max_attempts().is_some_and(|most| self.attempt() >= most)
    }

    /// Time left until the attempt's timeout; `None` when it has none.
    pub fn time_left(&self) -> Option<Duration> {
        let spent = self.inner.begun.get().map(Instant::elapsed).unwrap_or_default();
        self.inner.place.timeout.map(|timeout| timeout.saturating_sub(spent))
    }

    /// Fires when the attempt ran longer than its timeout, when another consumer took the message over, or when shutdown will
    /// not wait any longer.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.inner.cancellation
    }

    /// True once [`Message::cancellation`] has fired.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancellation.is_cancelled()
    }

    /// Acknowledges it now. What the handler returns changes nothing any more.
    ///
    /// # Errors
    /// See [`AckError`]; [`AckError::Unsupported`] for a list or a channel.
    pub async fn ack(&self) -> Result<(), AckError> {
        self.settle(Ending::Ack).await
    }

    /// Has it tried again, now. What the handler returns changes nothing any more.
    ///
    /// # Errors
    /// See [`AckError`]; [`AckError::Unsupported`] for a list or a channel.
    pub async fn retry(&self) -> Result<(), AckError> {
        self.settle(Ending::Retry).await
    }

    /// Gives it up, without a dead letter. What the handler returns changes nothing any more.
    ///
    /// # Errors
    /// See [`AckError`]; [`AckError::Unsupported`] for a list or a channel.
    pub async fn discard(&self) -> Result<(), AckError> {
        self.settle(Ending::Drop).await
    }

    async fn settle(&self, ending: Ending) -> Result<(), AckError> {
        let Inner { incoming, place, settler, settled, .. } = &*self.inner;
        if !place.form.acknowledges() {
            return Err(AckError::Unsupported { form: place.form.name() });
        }
        if settled.swap(true, Ordering::AcqRel) {
            return Err(AckError::Settled);
        }
        let Some(settler) = settler else { return Ok(()) };
        match settler.settle(incoming, ending).await {
            Ok(Settling::Done) => Ok(()),
            Ok(Settling::Lost) => Err(AckError::Lost),
            Err(error) => {
                settled.store(false, Ordering::Release);
                Err(error.into())
            }
        }
    }

    /// True when it was settled by hand.
    pub(crate) fn is_settled(&self) -> bool {
        self.inner.settled.load(Ordering::Acquire)
    }

    pub(crate) fn incoming(&self) -> &Incoming {
        &self.inner.incoming
    }

    /// Notes that the function begins now.
    pub(crate) fn begin(&self) {
        self.inner.begun.get_or_init(Instant::now);
    }

    pub(crate) fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.inner.states.get()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without payload and headers: they may be secret, and long.
        let Incoming { source, id, .. } = &self.inner.incoming;
        f.debug_struct("Message").field("source", source).field("id", id).field("attempt", &self.attempt()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_is_settled_by_hand_once() {
        let message = Message::detached("x");
        assert!(message.ack().await.is_ok());
        assert!(matches!(message.discard().await, Err(AckError::Settled)));
    }
}
