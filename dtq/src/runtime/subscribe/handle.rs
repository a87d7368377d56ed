//! One message: its turn, its slot, its handler, its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::super::outage::shown;
use super::decide::{decide, over_the_cap};
use super::live::Live;
use super::order::{Turn, Turns};
use super::stats::{Counters, SubscriberStats};
use super::{Shared, settle};
use crate::panics;
use crate::policy::Ended;
use crate::store::messages::{Ending, Inbox};
use crate::subscriber::{Message, MessageCall, OrderKey, Place, SubscriberDef, SubscriberRegistration};
use crate::types::{ErrorKind, Failure, Incoming};

/// A subscriber at work.
pub(super) struct Subscribed {
    registration: SubscriberRegistration,
    pub(super) inbox: Arc<dyn Inbox>,
    pub(super) shared: Shared,
    order: Option<OrderKey>,
    turns: Arc<Turns>,
    pub(super) live: Live,
    pub(super) counters: Counters,
    /// Fires when nothing more is read: what is given back before would be read here again.
    pub(super) reading_over: CancellationToken,
}

impl std::fmt::Debug for Subscribed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscribed").field("def", self.def()).finish_non_exhaustive()
    }
}

impl Subscribed {
    pub(super) fn new(registration: SubscriberRegistration, inbox: Arc<dyn Inbox>, shared: Shared) -> Self {
        // The template was checked at start.
        let order = registration.def.ordered_by.and_then(|template| OrderKey::parse(template).ok());
        let (turns, live, counters, reading_over) = Default::default();
        Self { registration, inbox, shared, order, turns, live, counters, reading_over }
    }

    pub(super) fn def(&self) -> &SubscriberDef {
        &self.registration.def
    }

    pub(super) fn stats(&self) -> SubscriberStats {
        self.counters.stats(self.def().name)
    }

    /// Messages that may be held here.
    pub(super) fn bound(&self) -> usize {
        let own = self.def().concurrency.and_then(|messages| usize::try_from(messages).ok());
        own.unwrap_or(self.shared.concurrency)
    }

    /// Starts to work on a message, in the order of the calls. `room` is the bound on what is held.
    pub(super) fn start(self: &Arc<Self>, message: Incoming, room: OwnedSemaphorePermit) {
        self.counters.read.fetch_add(1, Ordering::Relaxed);
        let key = self.order.as_ref().map(|order| order.of(&message)).transpose();
        let this = self.clone();
        // The place in line is taken here, before the next message is looked at.
        let turn = match key {
            Ok(key) => Ok(key.map(|key| self.turns.enter(key))),
            Err(wrong) => Err(undecodable(wrong)),
        };
        self.shared.tracker.spawn(async move {
            this.work(message, turn).await;
            drop(room);
        });
    }

    async fn work(self: &Arc<Self>, incoming: Incoming, turn: Result<Option<Turn>, Ending>) {
        let token = CancellationToken::new();
        self.live.begin(incoming.id.as_deref(), &token);
        let message = self.message(incoming, &token);
        let (ending, turn) = match turn {
            Err(ending) => (ending, None),
            Ok(mut turn) => {
                let attempt = panics::caught(self.attempt(&message, &token, turn.as_mut())).await;
                // User code also runs outside of the handler: when an unfinished one is dropped.
                (attempt.unwrap_or_else(|panicked| self.decide(&message, panicked)), turn)
            }
        };
        // From here on it is no loss when the message is not pending any more.
        self.live.end(message.id());
        if !message.is_settled() {
            settle::settle(self, message.incoming(), ending).await;
        }
        drop(turn);
    }

    fn message(self: &Arc<Self>, incoming: Incoming, token: &CancellationToken) -> Message {
        let by_hand = Arc::new(settle::ByHand { subscribed: self.clone() });
        Message::new(incoming, Place::of(self.def()), self.shared.states.clone(), token.clone(), by_hand)
    }

    async fn attempt(&self, message: &Message, token: &CancellationToken, turn: Option<&mut Turn>) -> Ending {
        let Shared { stopping, slots, client, abort, .. } = &self.shared;
        let slot = async {
            if let Some(turn) = turn {
                turn.comes().await;
            }
            slots.acquire().await
        };
        let slot = tokio::select! {
            biased;
            () = stopping.cancelled() => return Ending::Release,
            slot = slot => slot,
        };
        let Ok(_slot) = slot else { return Ending::Release };
        if let Some(ending) = over_the_cap(message.attempt(), self.def()) {
            return ending;
        }
        let call = MessageCall { message: message.clone() };
        let running = client.scope(panics::caught_in(|| (self.registration.handler)(call)));
        tokio::select! {
            biased;
            ended = running => self.decide(message, ended),
            () = self.timed_out() => {
                // A plain function cannot be stopped: it is told, at least.
                token.cancel();
                self.decide(message, self.too_long())
            }
            () = self.lost_for_long(token) => Ending::Release,
            () = abort.cancelled() => {
                token.cancel();
                Ending::Release
            }
        }
    }

    async fn timed_out(&self) {
        match self.def().timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    }

    async fn lost_for_long(&self, token: &CancellationToken) {
        token.cancelled().await;
        tokio::time::sleep(self.shared.cancel_grace).await;
    }

    fn too_long(&self) -> Ended {
        let limit = humantime::format_duration(self.def().timeout.unwrap_or_default());
        let failure = Failure::new(ErrorKind::Timeout, format!("ran longer than its timeout of {limit}"));
        Ended::Again { after: None, failure }
    }

    fn decide(&self, message: &Message, ended: Ended) -> Ending {
        let failure = match &ended {
            Ended::Again { failure, .. } | Ended::Fatal(failure) => Some(failure.clone()),
            _ => None,
        };
        let ending = decide(ended, message.attempt(), self.def(), fastrand::f64());
        if let Some(failure) = failure {
            let retry_in = match &ending {
                Ending::Later { delay, .. } => Some(shown(*delay).to_string()),
                _ => None,
            };
            tracing::warn!(subscriber = self.def().name, source = message.source(), id = message.id(), attempt = message.attempt(),
                error = ?failure.message, kind = failure.kind.as_str(), retry_in, "attempt failed");
        }
        ending
    }
}

fn undecodable(wrong: String) -> Ending {
    Ending::Dead { kind: ErrorKind::Undecodable, reason: wrong }
}
