//! Settling a message, and the copies that wait in this process.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;

use super::super::outage::Outage;
use super::handle::Subscribed;
use crate::store::messages::{Ending, Settling};
use crate::store::{Result, StoreError};
use crate::subscriber::Settle;
use crate::types::{DelayedRetry, ErrorKind, Form, Incoming};

/// Settles a message, trying again until the server has taken it or the worker is gone.
pub(super) async fn settle(subscribed: &Arc<Subscribed>, message: &Incoming, ending: Ending) {
    if ending == Ending::Release && subscribed.shared.stopping.is_cancelled() {
        subscribed.reading_over.cancelled().await;
    }
    let kept_here = match &ending {
        Ending::Later { delay, counted } if waits_here(subscribed) => Some((*delay, *counted)),
        _ => None,
    };
    // The original is acknowledged first, as it is told at start: a copy in the process is not safer than the process.
    let sent = if kept_here.is_some() { Ending::Ack } else { ending.clone() };
    match persist(subscribed, message, Sent::Ending(&sent)).await {
        Some(Settling::Done) => done(subscribed, message, &ending),
        Some(Settling::Lost) => {
            lost(subscribed, message);
            return;
        }
        None => {
            subscribed.shared.unsettled.store(true, Ordering::Release);
            return;
        }
    }
    if let Some((delay, counted)) = kept_here {
        keep(subscribed.clone(), message.clone(), delay, counted);
    }
}

fn waits_here(subscribed: &Subscribed) -> bool {
    let def = subscribed.def();
    def.delayed_retry == DelayedRetry::InProcess && !matches!(def.form, Form::Claiming(_))
}

/// Holds a copy until its delay is over, or the worker stops: early is better than never.
fn keep(subscribed: Arc<Subscribed>, message: Incoming, delay: Duration, counted: bool) {
    let tracker = subscribed.shared.tracker.clone();
    tracker.spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = subscribed.reading_over.cancelled() => {}
        }
        if persist(&subscribed, &message, Sent::Copy { counted }).await.is_none() {
            subscribed.shared.unsettled.store(true, Ordering::Release);
        }
    });
}

/// What is sent of a message.
#[derive(Clone, Copy)]
enum Sent<'a> {
    Ending(&'a Ending),
    Copy { counted: bool },
}

/// Sends until the server has taken it; `None` when it had not by the end of this worker. Sending again is safe: what repeats is a duplicate.
async fn persist(subscribed: &Subscribed, message: &Incoming, sent: Sent<'_>) -> Option<Settling> {
    let mut outage = Outage::new("settle messages", &subscribed.shared.trouble);
    loop {
        let answer = match sent {
            Sent::Ending(ending) => subscribed.inbox.settle(message, ending).await,
            Sent::Copy { counted } => subscribed.inbox.put_back(message, counted).await.map(|()| Settling::Done),
        };
        let pause = match answer {
            Ok(answer) => {
                outage.over();
                return Some(answer);
            }
            // Also when it refuses this very call: a key of another kind in the place of dead letters, say, can be mended, and what
            // cannot be acknowledged must not be given up.
            Err(error) => outage.failed(&error),
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = subscribed.shared.leaving.cancelled() => return None,
        }
    }
}

fn done(subscribed: &Subscribed, message: &Incoming, ending: &Ending) {
    let def = subscribed.def();
    subscribed.counters.ended(ending, def.dead_letter.is_some());
    let (subscriber, source, id, attempt) = (def.name, &message.source, message.id.as_deref(), message.attempt());
    match ending {
        Ending::Dead { kind, reason } => {
            let kind = kind.as_str();
            match def.dead_letter {
                Some(to) => tracing::error!(subscriber, source, id, attempt, kind, reason, to, "given up: dead letter"),
                None => tracing::error!(
                    subscriber,
                    source,
                    id,
                    attempt,
                    kind,
                    reason,
                    "given up and dropped: there is no dead_letter"
                ),
            }
        }
        Ending::Release => {
            tracing::info!(subscriber, source, id, attempt, "given back unfinished; this attempt does not count");
        }
        ending => tracing::debug!(subscriber, source, id, attempt, ?ending, "settled"),
    }
}

fn lost(subscribed: &Subscribed, message: &Incoming) {
    subscribed.counters.lost.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(
        subscriber = subscribed.def().name,
        source = message.source,
        id = message.id.as_deref(),
        attempt = message.attempt(),
        "lease lost: this attempt's end was refused (was the worker paused longer than min_idle?)"
    );
}

/// What a handler settles by hand.
pub(super) struct ByHand {
    pub(super) subscribed: Arc<Subscribed>,
}

#[async_trait]
impl Settle for ByHand {
    async fn settle(&self, message: &Incoming, ending: Ending) -> Result<Settling, StoreError> {
        self.subscribed.live.end(message.id.as_deref());
        let ending = match ending {
            Ending::Retry if self.subscribed.def().max_attempts.is_some_and(|most| message.attempt() >= most) => {
                Ending::Dead { kind: ErrorKind::Retry, reason: "asked for a retry in its last attempt".into() }
            }
            ending => ending,
        };
        let settling = self.subscribed.inbox.settle(message, &ending).await?;
        match settling {
            Settling::Done => done(&self.subscribed, message, &ending),
            Settling::Lost => lost(&self.subscribed, message),
        }
        Ok(settling)
    }
}
