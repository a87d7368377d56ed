//! Handlers of messages that dtq did not write: what `#[dtq::subscriber]` makes of a function.

mod def;
mod message;
mod order_key;
mod payload;
mod receive;
mod registry;
mod returns;

pub use def::{Subscriber, SubscriberDef, SubscriberRegistration};
pub use message::{AckError, Message, MessageCall};
pub(crate) use message::{Place, Settle};
pub(crate) use order_key::OrderKey;
pub use payload::{Fields, FromJson, FromMessage, Json};
pub use receive::{receive, receive_blocking};
pub use registry::SubscriberError;
pub(crate) use registry::Subscribers;
pub use returns::{Later, Settles, Unacknowledged};
