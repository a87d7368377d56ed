//! Lists: with a processing list that keeps what is worked on (`reliable_list`), and without one (`list`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use redis::Value;
use tokio::runtime::Handle;

use super::super::{link::Link, reply};
use super::held::Held;
use super::reader::Reader;
use super::scripts::SCRIPTS;
use super::steps::{self, Fence, Step};
use super::{keys, millis, move_due, ttl_of, wire};
use crate::store::messages::{Ending, Inbox, Settling, Subscription, Tidied};
use crate::store::{BATCH, Result};
use crate::types::{DelayedRetry, Incoming, ListForm};

const READ: &str = "read messages";
const TIDY: &str = "tidy messages";

/// One list as one consumer reads it.
pub(super) struct ListInbox {
    link: Arc<Link>,
    shared: Arc<Shared>,
}

struct Shared {
    form: ListForm,
    consumer: String,
    /// This consumer's processing list, when the list is a reliable one.
    processing: Option<String>,
    consumers: String,
    /// The set of delayed copies, unless they are held elsewhere.
    delayed: Option<String>,
    ttl: Option<u128>,
    dead_letter: Option<&'static str>,
    held: Held,
    reader: tokio::sync::Mutex<Reader>,
    /// A read has failed: its answer may have been lost on the way, and with it values that are on the processing list.
    doubt: AtomicBool,
}

impl ListInbox {
    pub(super) fn new(link: Arc<Link>, form: ListForm, reliable: bool, subscription: &Subscription) -> Self {
        let consumer = keys::consumer(&subscription.worker);
        let durable = matches!(subscription.delayed_retry, DelayedRetry::DurableZset { .. });
        let shared = Shared {
            form,
            processing: reliable.then(|| keys::processing_of(form.key) + &consumer),
            consumer,
            consumers: keys::consumers(form.key),
            delayed: durable.then(|| keys::delayed(form.key)),
            ttl: ttl_of(subscription.delayed_retry),
            dead_letter: subscription.dead_letter,
            held: Held::default(),
            reader: Default::default(),
            doubt: AtomicBool::new(false),
        };
        Self { link, shared: Arc::new(shared) }
    }

    /// What is sent for an ending, in this order.
    fn steps(&self, message: &Incoming, ending: &Ending) -> Vec<Step> {
        let Shared { form, processing, delayed, ttl, dead_letter, .. } = &*self.shared;
        let copy = |counted| wire::value(message, &wire::again(message, counted));
        let first = match ending {
            Ending::Ack | Ending::Drop => None,
            Ending::Retry => Some(Step::push(form.key, copy(true))),
            Ending::Release => Some(Step::push(form.key, copy(false))),
            Ending::Later { delay, counted } => Some(match delayed {
                Some(set) => Step::delay(set, wire::delayed(&[copy(*counted)]), delay.as_millis(), *ttl),
                // Whoever keeps copies in the process does not ask for this.
                None => Step::push(form.key, copy(*counted)),
            }),
            Ending::Dead { kind, reason } => dead_letter
                .map(|list| Step::push(list, wire::value(message, &wire::dead(message, kind.as_str(), reason)))),
        };
        let remove = processing
            .as_ref()
            .map(|processing| Step::new("LREM", processing, [Bytes::from_static(b"1"), message.raw.clone()]));
        first.into_iter().chain(remove).collect()
    }

    fn fence(&self, message: &Incoming) -> Fence {
        match &self.shared.processing {
            // Nobody is looked after who has no time in which to give a sign of life.
            Some(processing) if self.shared.form.min_idle.is_some() => {
                Fence::Listed { processing: processing.clone(), value: message.raw.clone() }
            }
            _ => Fence::None,
        }
    }

    fn accept(&self, values: impl IntoIterator<Item = Bytes>) -> Vec<Incoming> {
        let values = values.into_iter().inspect(|value| self.shared.held.take(value.clone()));
        values.map(|value| wire::of_value(self.shared.form.key.to_owned(), value)).collect()
    }

    /// Moves values to the processing list: what there is, else the first that comes.
    async fn take(&self, processing: &str, max: usize, block: Duration) -> Result<Vec<Bytes>> {
        let Shared { form, consumer, consumers, .. } = &*self.shared;
        let script = &SCRIPTS.take;
        let mut call = script.call_on(&[form.key, processing, consumers]);
        call.arg(consumer).arg(max);
        let found = values(self.link.eval(READ, script, &call).await?);
        if !found.is_empty() {
            return Ok(found);
        }
        let mut wait = redis::cmd("BLMOVE");
        wait.arg(form.key).arg(processing).arg("RIGHT").arg("LEFT").arg(block.as_secs_f64().max(0.001));
        let mut reader = self.shared.reader.lock().await;
        Ok(reply::bytes(reader.run(&self.link, READ, &wait, block).await?).into_iter().collect())
    }

    /// Takes values away for good: the first that comes, and what there is behind it.
    async fn pop(&self, max: usize, block: Duration) -> Result<Vec<Bytes>> {
        let key = self.shared.form.key;
        let mut reader = self.shared.reader.lock().await;
        let mut wait = redis::cmd("BRPOP");
        wait.arg(key).arg(block.as_secs_f64().max(0.001));
        let first = reply::list_or_nil(reader.run(&self.link, READ, &wait, block).await?).unwrap_or_default();
        let mut found: Vec<Bytes> = first.into_iter().nth(1).and_then(reply::bytes).into_iter().collect();
        if !found.is_empty() && max > 1 {
            let mut more = redis::cmd("RPOP");
            more.arg(key).arg(max - 1);
            match reader.run(&self.link, READ, &more, Duration::ZERO).await {
                Ok(more) => found.extend(values(more)),
                // The first one is here all the same.
                Err(error) => tracing::debug!(%error, "the rest of a list could not be read"),
            }
        }
        Ok(found)
    }

    /// Values that were given to this consumer in an answer that was lost on the way.
    async fn unheard(&self, processing: &str, max: usize) -> Result<Vec<Bytes>> {
        if !self.shared.doubt.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        // What is held is looked at first: what is settled meanwhile is gone from the list, and no loss.
        let mut held = self.shared.held.all();
        let mut all = redis::cmd("LRANGE");
        all.arg(processing).arg(0).arg(-1);
        let mut found = values(self.link.run(READ, &all).await?);
        found.retain(|value| match held.get_mut(value).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                false
            }
            None => true,
        });
        // The rest is looked for again, when there is room for it.
        self.shared.doubt.store(found.len() > max, Ordering::Release);
        found.truncate(max);
        Ok(found)
    }

    async fn look(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let Shared { form, processing, delayed, .. } = &*self.shared;
        let moved = match delayed {
            Some(set) => move_due(&self.link, set, form.key, "LPUSH").await,
            None => Ok(()),
        };
        let found = match processing {
            None => self.pop(max, block).await?,
            Some(processing) => match self.unheard(processing, max).await? {
                found if found.is_empty() => self.take(processing, max, block).await?,
                found => found,
            },
        };
        // What waits is worked on all the same: a server without memory for copies would stay so, if nobody read.
        if found.is_empty() { moved.map(|()| Vec::new()) } else { Ok(self.accept(found)) }
    }

    /// Puts back what one silent consumer left; true when there may be more.
    async fn recover(&self, idle: Duration, tidied: &mut Tidied) -> Result<bool> {
        let Shared { form, consumer, consumers, .. } = &*self.shared;
        let (prefix, script) = (keys::processing_of(form.key), &SCRIPTS.silent);
        let mut call = script.call_on(&[consumers]);
        call.arg(consumer).arg(millis(idle)).arg(&prefix).arg(BATCH);
        let answer = reply::list(self.link.eval(TIDY, script, &call).await?).unwrap_or_default();
        tidied.forgotten += super::count(answer.first());
        let mut answer = answer.into_iter().skip(1);
        let (Some(silent), Some(left)) = (answer.next().and_then(reply::text), answer.next().map(values)) else {
            return Ok(false);
        };
        // Newest first in the list; what is pushed last is read first.
        let script = &SCRIPTS.recover;
        let mut call = script.call_on(&[form.key, &format!("{prefix}{silent}"), consumers]);
        call.arg(&silent).arg(millis(idle));
        for value in left.iter().rev() {
            // Whoever left it had begun it: that attempt counts, or a value that kills its workers would do so for ever.
            let message = wire::of_value(form.key.to_owned(), value.clone());
            call.arg(value.as_ref()).arg(wire::value(&message, &wire::again(&message, true)).as_ref());
        }
        let put = super::count(Some(&self.link.eval(TIDY, script, &call).await?));
        tidied.recovered += put;
        if put > 0 {
            tracing::warn!(list = form.key, values = put, "took back from a worker that was silent for min_idle");
        }
        Ok(put > 0)
    }
}

#[async_trait]
impl Inbox for ListInbox {
    async fn prepare(&self) -> Result<()> {
        let mut kind = redis::cmd("TYPE");
        kind.arg(self.shared.form.key);
        match reply::text(self.link.run(READ, &kind).await?).as_deref() {
            Some("list" | "none") => Ok(()),
            other => {
                let (key, other) = (self.shared.form.key, other.unwrap_or("something else"));
                Err(self.link.unusable(format!("the key {key:?} holds a {other} and no list")))
            }
        }
    }

    async fn read(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let found = self.look(max, block).await;
        if found.is_err() {
            self.shared.doubt.store(true, Ordering::Release);
        }
        found
    }

    async fn settle(&self, message: &Incoming, ending: &Ending) -> Result<Settling> {
        let steps = self.steps(message, ending);
        let settling = match steps.as_slice() {
            [] => Settling::Done,
            steps => steps::run(&self.link, &self.fence(message), steps, &mut 0).await?,
        };
        self.shared.held.release(&message.raw);
        Ok(settling)
    }

    async fn put_back(&self, message: &Incoming, counted: bool) -> Result<()> {
        let step = Step::push(self.shared.form.key, wire::value(message, &wire::again(message, counted)));
        steps::run(&self.link, &Fence::None, &[step], &mut 0).await.map(drop)
    }

    async fn renew(&self) -> Result<Vec<String>> {
        let Shared { form, consumer, consumers, processing, .. } = &*self.shared;
        let Some(processing) = processing else { return Ok(Vec::new()) };
        // Taking nothing is a sign of life, too.
        let script = &SCRIPTS.take;
        let mut call = script.call_on(&[form.key, processing, consumers]);
        call.arg(consumer).arg(0);
        self.link.eval("renew messages", script, &call).await.map(|_| Vec::new())
    }

    async fn tidy(&self) -> Result<Tidied> {
        let mut tidied = Tidied::default();
        if let (Some(_), Some(idle)) = (&self.shared.processing, self.shared.form.min_idle) {
            // Bounded: the next time goes on.
            for _ in 0..BATCH {
                if !self.recover(idle, &mut tidied).await? {
                    break;
                }
            }
        }
        Ok(tidied)
    }

    async fn leave(&self) -> Result<()> {
        let Shared { consumer, consumers, processing, .. } = &*self.shared;
        let Some(processing) = processing else { return Ok(()) };
        let mut length = redis::cmd("LLEN");
        length.arg(processing);
        if super::count(Some(&self.link.run(TIDY, &length).await?)) == 0 {
            let mut forget = redis::cmd("ZREM");
            forget.arg(consumers).arg(consumer);
            self.link.run(TIDY, &forget).await?;
        }
        Ok(())
    }

    fn dedicated(&self) -> Arc<dyn Inbox> {
        Arc::new(Self { link: Arc::new(self.link.driven_by(Handle::current())), shared: self.shared.clone() })
    }
}

fn values(answer: Value) -> Vec<Bytes> {
    reply::list_or_nil(answer).unwrap_or_default().into_iter().filter_map(reply::bytes).collect()
}
