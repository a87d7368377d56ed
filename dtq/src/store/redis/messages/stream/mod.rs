//! Streams: a consumer group's entries, retried by copies (`stream`) or by leaving them pending (`claiming`).

mod fetch;
mod group;
mod parked;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::runtime::Handle;

use self::parked::Parked;
use super::super::{link::Link, reply};
use super::held::Held;
use super::reader::Reader;
use super::scripts::SCRIPTS;
use super::steps::{self, Fence, Step};
use super::{keys, millis, ttl_of, wire};
use crate::store::messages::{Ending, Inbox, Settling, Subscription, Tidied};
use crate::store::{BATCH, Result};
use crate::types::{DelayedRetry, Incoming, StreamForm, header};

/// A consumer that was silent for so long, and holds nothing, is forgotten. Longer than any wait between two reads of a live
/// one; and one that lives after all is made anew when it reads again.
const GONE: Duration = Duration::from_secs(60);

/// One group's entries as one consumer reads them.
pub(super) struct StreamInbox {
    link: Arc<Link>,
    shared: Arc<Shared>,
}

/// What the reading side and the one that keeps entries alive have in common.
struct Shared {
    form: StreamForm,
    claiming: bool,
    consumer: String,
    /// The set of delayed copies, unless they are held elsewhere.
    delayed: Option<String>,
    ttl: Option<u128>,
    dead_letter: Option<&'static str>,
    held: Held,
    parked: Parked,
    /// Endings of which the server has taken the first steps and not the rest, by id.
    halfway: Mutex<HashMap<String, (Ending, usize)>>,
    reader: tokio::sync::Mutex<Reader>,
    /// Where the group is made again, should it be gone.
    origin: Mutex<Option<String>>,
    /// A read has failed: its answer may have been lost on the way, and with it entries that wait for this consumer.
    doubt: AtomicBool,
    /// Whether the server claims by itself: see `fetch.rs`.
    claims: AtomicU8,
    cursor: Mutex<String>,
    looked: Mutex<Option<Instant>>,
}

impl StreamInbox {
    pub(super) fn new(link: Arc<Link>, form: StreamForm, claiming: bool, subscription: &Subscription) -> Self {
        let durable = !claiming && matches!(subscription.delayed_retry, DelayedRetry::DurableZset { .. });
        let shared = Shared {
            form,
            claiming,
            consumer: keys::consumer(&subscription.worker),
            delayed: durable.then(|| keys::delayed_of_group(form.key, form.group)),
            ttl: ttl_of(subscription.delayed_retry),
            dead_letter: subscription.dead_letter,
            held: Held::default(),
            parked: Parked::default(),
            halfway: Mutex::default(),
            reader: Default::default(),
            origin: Mutex::default(),
            doubt: AtomicBool::new(false),
            claims: AtomicU8::new(0),
            cursor: Mutex::new(fetch::FIRST.to_owned()),
            looked: Mutex::default(),
        };
        Self { link, shared: Arc::new(shared) }
    }

    fn acknowledge(&self, id: &str) -> Step {
        let arguments = [self.shared.form.group, id].map(|word| Bytes::from(word.to_owned()));
        Step::new("XACK", self.shared.form.key, arguments)
    }

    /// A copy for another attempt. Other groups of the stream have had the original, and pass it over.
    fn copy(&self, message: &Incoming, counted: bool) -> Vec<Bytes> {
        let mut headers = wire::again(message, counted);
        wire::put(&mut headers, header::GROUP, self.shared.form.group.to_owned());
        wire::entry(&self.shared.form, message, &headers)
    }

    /// Makes a claiming subscription's entry claimable at once, with a count that this delivery is no part of.
    fn give_back(&self, message: &Incoming, id: &str) -> Step {
        let Shared { form, consumer, .. } = &*self.shared;
        let idle = millis(form.min_idle.unwrap_or_default()).to_string();
        let count = message.deliveries.saturating_sub(1).to_string();
        let words = [form.group, consumer, "0", id, "IDLE", &idle, "RETRYCOUNT", &count, "JUSTID"];
        Step::new("XCLAIM", form.key, words.map(|word| Bytes::from(word.to_owned())))
    }

    /// What is sent for an ending, in this order.
    fn steps(&self, message: &Incoming, id: &str, ending: &Ending) -> Vec<Step> {
        let Shared { form, claiming, delayed, ttl, dead_letter, .. } = &*self.shared;
        let first = match ending {
            Ending::Retry | Ending::Later { .. } if *claiming => return Vec::new(),
            Ending::Release if *claiming => return vec![self.give_back(message, id)],
            Ending::Ack | Ending::Drop => None,
            Ending::Retry => Some(Step::append(form.key, self.copy(message, true))),
            Ending::Release => Some(Step::append(form.key, self.copy(message, false))),
            Ending::Later { delay, counted } => {
                let copy = self.copy(message, *counted);
                Some(match delayed {
                    Some(set) => Step::delay(set, wire::delayed(&copy), delay.as_millis(), *ttl),
                    // Whoever keeps copies in the process does not ask for this.
                    None => Step::append(form.key, copy),
                })
            }
            Ending::Dead { kind, reason } => dead_letter.map(|stream| {
                Step::append(stream, wire::entry(form, message, &wire::dead(message, kind.as_str(), reason)))
            }),
        };
        first.into_iter().chain([self.acknowledge(id)]).collect()
    }

    /// An entry that nobody else may claim needs no fence.
    fn fence(&self, id: &str) -> Fence {
        let Shared { form, consumer, .. } = &*self.shared;
        match form.min_idle {
            None => Fence::None,
            Some(_) => Fence::Pending {
                stream: form.key.to_owned(),
                group: form.group.to_owned(),
                id: id.to_owned(),
                consumer: consumer.clone(),
            },
        }
    }

    /// Sends the steps of an ending that the server has not taken yet: a copy is not made again for each try of what follows.
    async fn send(&self, id: &str, ending: &Ending, steps: &[Step]) -> Result<Settling> {
        let halfway = || self.shared.halfway.lock().unwrap_or_else(PoisonError::into_inner);
        let before = halfway().remove(id).filter(|(begun, _)| begun == ending);
        let mut taken = before.map_or(0, |(_, taken)| taken);
        let sent = steps::run(&self.link, &self.fence(id), steps, &mut taken).await;
        if sent.is_err() && taken > 0 {
            halfway().insert(id.to_owned(), (ending.clone(), taken));
        }
        sent
    }

    async fn tidied(&self, spared: &str, prefix: &str, gone: Duration, trim: bool) -> Result<Tidied> {
        let (form, script) = (&self.shared.form, &SCRIPTS.tidy);
        let mut call = script.call_on(&[form.key]);
        call.arg(form.group).arg(spared).arg(prefix).arg(millis(gone)).arg(if trim { "trim" } else { "" });
        let answer = reply::list(self.link.eval("tidy messages", script, &call).await?).unwrap_or_default();
        let (forgotten, trimmed) = (super::count(answer.first()), super::count(answer.get(1)));
        Ok(Tidied { forgotten, trimmed, ..Tidied::default() })
    }
}

#[async_trait]
impl Inbox for StreamInbox {
    async fn prepare(&self) -> Result<()> {
        self.make_group().await
    }

    async fn read(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        self.fetch(max, block).await
    }

    async fn settle(&self, message: &Incoming, ending: &Ending) -> Result<Settling> {
        let id = message.id.as_deref().unwrap_or_default();
        let steps = self.steps(message, id, ending);
        let settling = match steps.as_slice() {
            [] => Settling::Done,
            steps => self.send(id, ending, steps).await?,
        };
        match (ending, self.shared.form.min_idle) {
            // A delay that is longer than the idle time: it is kept from becoming idle for the rest.
            (Ending::Later { delay, .. }, Some(idle)) if self.shared.claiming && *delay > idle => {
                self.shared.parked.park(id, Instant::now() + (*delay - idle));
            }
            _ => self.shared.held.release(id.as_bytes()),
        }
        Ok(settling)
    }

    async fn put_back(&self, message: &Incoming, counted: bool) -> Result<()> {
        let step = Step::append(self.shared.form.key, self.copy(message, counted));
        steps::run(&self.link, &Fence::None, &[step], &mut 0).await.map(drop)
    }

    async fn renew(&self) -> Result<Vec<String>> {
        let Shared { form, consumer, held, parked, .. } = &*self.shared;
        if form.min_idle.is_none() {
            return Ok(Vec::new());
        }
        // Those whose delay is over now are renewed a last time, so that they come after it and not before.
        let over = parked.over(Instant::now());
        let ids: Vec<Bytes> = held.all().into_keys().collect();
        let (mut lost, script) = (Vec::new(), &SCRIPTS.renew);
        for ids in ids.chunks(BATCH) {
            let mut call = script.call_on(&[form.key]);
            call.arg(form.group).arg(consumer);
            ids.iter().for_each(|id| {
                call.arg(id.as_ref());
            });
            let answer = self.link.eval("renew messages", script, &call).await?;
            lost.extend(reply::list(answer).unwrap_or_default().into_iter().filter_map(reply::text));
        }
        over.iter().for_each(|id| held.release(id.as_bytes()));
        // What was settled meanwhile is not pending either, and no loss.
        lost.retain(|id| held.holds(id.as_bytes()));
        Ok(lost)
    }

    async fn tidy(&self) -> Result<Tidied> {
        let form = &self.shared.form;
        let gone = form.min_idle.unwrap_or_default().max(GONE);
        self.tidied(&self.shared.consumer, keys::CONSUMER, gone, form.trim).await
    }

    async fn leave(&self) -> Result<()> {
        self.tidied("", &self.shared.consumer, Duration::ZERO, self.shared.form.trim).await.map(drop)
    }

    fn dedicated(&self) -> Arc<dyn Inbox> {
        Arc::new(Self { link: Arc::new(self.link.driven_by(Handle::current())), shared: self.shared.clone() })
    }
}
