//! Channels: messages that are there once, for those who listen.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use redis::aio::{AsyncPushSender, SendError};
use redis::{PushInfo, PushKind, Value};
use tokio::sync::mpsc;

use super::super::dial::Connection;
use super::super::{link::Link, reply};
use super::wire;
use crate::store::messages::{Ending, Inbox, Settling, Subscription, Tidied};
use crate::store::{Result, StoreError};
use crate::types::{Channel, Incoming, PubSubForm};

const READ: &str = "listen";

/// Messages that wait here for a free slot at most; more are counted and lost, as the server itself does with slow listeners.
const BUFFER: usize = 4096;

/// How long nothing may come before it is asked whether the connection still lives.
const QUIET: Duration = Duration::from_secs(1);

/// One subscription.
pub(super) struct ChannelInbox {
    link: Arc<Link>,
    form: PubSubForm,
    dead_letter: Option<&'static str>,
    listening: tokio::sync::Mutex<Option<Listening>>,
}

/// A connection that is subscribed.
struct Listening {
    connection: Connection,
    messages: mpsc::Receiver<PushInfo>,
    lost: Arc<AtomicU64>,
    heard: Instant,
}

/// Takes what the connection brings, without ever holding it up.
struct Buffer {
    messages: mpsc::Sender<PushInfo>,
    lost: Arc<AtomicU64>,
}

impl AsyncPushSender for Buffer {
    fn send(&self, info: PushInfo) -> Result<(), SendError> {
        if matches!(info.kind, PushKind::Message | PushKind::PMessage | PushKind::SMessage)
            && self.messages.try_send(info).is_err()
        {
            self.lost.fetch_add(1, Ordering::AcqRel);
        }
        Ok(())
    }
}

impl ChannelInbox {
    pub(super) fn new(link: Arc<Link>, form: PubSubForm, subscription: &Subscription) -> Self {
        Self { link, form, dead_letter: subscription.dead_letter, listening: Default::default() }
    }

    async fn listen(&self) -> Result<Listening> {
        let (sender, messages) = mpsc::channel(BUFFER);
        let lost = Arc::new(AtomicU64::new(0));
        let buffer = Buffer { messages: sender, lost: lost.clone() };
        let mut connection = self.link.listening(READ, Arc::new(buffer)).await?;
        let (command, name) = match self.form.channel {
            Channel::Exact(name) => ("SUBSCRIBE", name),
            Channel::Pattern(name) => ("PSUBSCRIBE", name),
            Channel::Sharded(name) => ("SSUBSCRIBE", name),
        };
        let mut subscribe = redis::cmd(command);
        subscribe.arg(name);
        self.link.run_blocking(READ, &mut connection, &subscribe, Duration::ZERO).await?;
        Ok(Listening { connection, messages, lost, heard: Instant::now() })
    }

    fn message(&self, info: PushInfo) -> Option<Incoming> {
        let mut parts = info.data.into_iter();
        if info.kind == PushKind::PMessage {
            parts.next();
        }
        let channel = parts.next().and_then(name)?;
        Some(wire::of_value(channel, reply::bytes(parts.next()?)?))
    }

    /// Where copies go: back to the channel they came through, unless another one is named.
    async fn send(&self, channel: &str, value: &[u8]) -> Result<()> {
        let sharded = matches!(self.form.channel, Channel::Sharded(_));
        let mut publish = redis::cmd(if sharded { "SPUBLISH" } else { "PUBLISH" });
        publish.arg(channel).arg(value);
        let heard = reply::int(&self.link.run("publish", &publish).await?).unwrap_or(0);
        if heard == 0 {
            tracing::warn!(channel, "a copy was published and nobody was subscribed: it is lost");
        }
        Ok(())
    }
}

/// A channel's name, be it text or not.
fn name(value: Value) -> Option<String> {
    reply::bytes(value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

impl Listening {
    /// The messages that are there, else the first that comes in time.
    async fn next(&mut self, link: &Link, max: usize, block: Duration) -> Result<Vec<PushInfo>> {
        let mut found = Vec::new();
        // A message and the end of the connection are both noticed at once: the end closes the channel.
        match tokio::time::timeout(block, self.messages.recv_many(&mut found, max)).await {
            Ok(0) => return Err(link.broken(READ)),
            Ok(_) => self.heard = Instant::now(),
            Err(_) if !self.connection.is_open() => return Err(link.broken(READ)),
            Err(_) if self.heard.elapsed() >= QUIET => {
                // A connection that died on the way is silent like one on which nothing is published.
                link.run_blocking(READ, &mut self.connection, &redis::cmd("PING"), Duration::ZERO).await?;
                self.heard = Instant::now();
            }
            Err(_) => {}
        }
        Ok(found)
    }
}

#[async_trait]
impl Inbox for ChannelInbox {
    async fn prepare(&self) -> Result<()> {
        let mut listening = self.listening.lock().await;
        if listening.is_none() {
            *listening = Some(self.listen().await?);
        }
        Ok(())
    }

    async fn read(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let mut slot = self.listening.lock().await;
        let mut listening = match slot.take() {
            Some(listening) => listening,
            None => self.listen().await?,
        };
        // After an error the connection is of no use: it is not put back, and the next read subscribes anew.
        let found = listening.next(&self.link, max, block).await?;
        let lost = listening.lost.swap(0, Ordering::AcqRel);
        if lost > 0 {
            let (channel, buffer) = (self.form.channel.name(), BUFFER);
            tracing::warn!(channel, lost, buffer, "messages came faster than they were worked on, and were lost");
        }
        *slot = Some(listening);
        Ok(found.into_iter().filter_map(|info| self.message(info)).collect())
    }

    async fn settle(&self, message: &Incoming, ending: &Ending) -> Result<Settling> {
        match ending {
            Ending::Dead { kind, reason } => {
                if let Some(channel) = self.dead_letter {
                    let letter = wire::value(message, &wire::dead(message, kind.as_str(), reason));
                    self.send(channel, &letter).await?;
                }
            }
            Ending::Retry | Ending::Later { .. } => {
                self.put_back(message, !matches!(ending, Ending::Later { counted: false, .. })).await?;
            }
            Ending::Ack | Ending::Drop | Ending::Release => {}
        }
        Ok(Settling::Done)
    }

    async fn put_back(&self, message: &Incoming, counted: bool) -> Result<()> {
        match self.form.destination() {
            Some(channel) => self.send(channel, &wire::value(message, &wire::again(message, counted))).await,
            None => Err(StoreError::Rejected {
                operation: "publish",
                store: self.link.address().to_owned(),
                detail: "a pattern names no channel for copies: set back_to".into(),
            }),
        }
    }

    async fn renew(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn tidy(&self) -> Result<Tidied> {
        Ok(Tidied::default())
    }

    async fn leave(&self) -> Result<()> {
        *self.listening.lock().await = None;
        Ok(())
    }

    fn dedicated(&self) -> Arc<dyn Inbox> {
        let (link, listening) = (self.link.clone(), Default::default());
        Arc::new(Self { link, form: self.form, dead_letter: self.dead_letter, listening })
    }
}
