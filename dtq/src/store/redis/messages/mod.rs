//! Messages that dtq did not write, on Redis and Valkey: one file a form, all behind [`Inbox`].
//!
//! Reading has a connection of its own for each subscriber (`reader.rs`); everything else goes out on the one that all of
//! the store's callers share.

mod frame;
mod held;
mod keys;
mod list;
mod publish;
mod pubsub;
mod reader;
mod scripts;
mod steps;
mod stream;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use redis::{Pipeline, Value};

use super::link::Link;
use super::reply;
use crate::store::messages::{Broker, Inbox, Outgoing, Published, Subscription};
use crate::store::{BATCH, Result};
use crate::types::{DelayedRetry, Form};

const MOVE: &str = "move due messages";

/// A Redis or Valkey server, as a place of messages.
#[derive(Debug)]
pub(crate) struct RedisBroker {
    link: Arc<Link>,
}

impl RedisBroker {
    pub(super) fn on(link: Arc<Link>) -> Self {
        Self { link }
    }
}

#[async_trait]
impl Broker for RedisBroker {
    fn address(&self) -> &str {
        self.link.address()
    }

    async fn probe(&self) -> Result<()> {
        self.link.run("reach the server of messages", &redis::cmd("PING")).await.map(drop)
    }

    fn open(&self, subscription: Subscription) -> Arc<dyn Inbox> {
        let link = self.link.clone();
        match subscription.form {
            Form::Stream(form) => Arc::new(stream::StreamInbox::new(link, form, false, &subscription)),
            Form::Claiming(form) => Arc::new(stream::StreamInbox::new(link, form, true, &subscription)),
            Form::ReliableList(form) => Arc::new(list::ListInbox::new(link, form, true, &subscription)),
            Form::List(form) => Arc::new(list::ListInbox::new(link, form, false, &subscription)),
            Form::PubSub(form) => Arc::new(pubsub::ChannelInbox::new(link, form, &subscription)),
        }
    }

    async fn publish(&self, messages: Vec<Outgoing>, atomic: bool) -> Result<Vec<Published>> {
        publish::publish(&self.link, &messages, atomic).await
    }
}

/// Moves what is due of the delayed copies back, at most a batch.
async fn move_due(link: &Link, set: &str, to: &str, with: &str) -> Result<()> {
    let script = &scripts::SCRIPTS.due;
    let mut call = script.call_on(&[set, to]);
    call.arg(with).arg(BATCH);
    let left = reply::list(link.eval(MOVE, script, &call).await?).unwrap_or_default();
    for member in left.into_iter().filter_map(reply::bytes) {
        move_long(link, set, to, &member).await?;
    }
    Ok(())
}

/// Moves a copy of an entry that has too many fields for a script. Two workers may both do it: that is a duplicate, and no loss.
async fn move_long(link: &Link, set: &str, to: &str, member: &Bytes) -> Result<()> {
    let parts = wire::parts(member).ok_or_else(|| link.corrupt(MOVE, "a delayed copy that is none"))?;
    let mut append = redis::cmd("XADD");
    append.arg(to).arg("*");
    parts.iter().skip(1).for_each(|part| {
        append.arg(part.as_ref());
    });
    let mut remove = redis::cmd("ZREM");
    remove.arg(set).arg(member.as_ref());
    let mut both = Pipeline::with_capacity(2);
    both.atomic().add_command(append).add_command(remove);
    link.run_all(MOVE, &both).await.map(drop)
}

/// The time to live of a set of delayed copies, in milliseconds.
fn ttl_of(delayed: DelayedRetry) -> Option<u128> {
    match delayed {
        DelayedRetry::DurableZset { ttl } => ttl.map(|ttl| ttl.as_millis()),
        DelayedRetry::InProcess => None,
    }
}

/// A number out of an answer.
fn count(value: Option<&Value>) -> usize {
    value.and_then(reply::int).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

/// Whole milliseconds for a command.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
