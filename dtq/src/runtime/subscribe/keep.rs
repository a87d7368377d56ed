//! Signs of life and tidying, on a thread and a runtime of their own: a handler that blocks the main runtime starves neither.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::super::outage::{Outage, Trouble};
use super::super::supervise::supervise;
use super::Shared;
use super::handle::Subscribed;
use crate::store::Result;
use crate::store::messages::Inbox;

/// The longest time between two signs of life.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How often it is tidied up.
const TIDY: Duration = Duration::from_secs(5);

/// How long taking leave may take.
const FAREWELL: Duration = Duration::from_secs(1);

pub(super) struct Keeper {
    subscribed: Vec<Arc<Subscribed>>,
    stop: CancellationToken,
    trouble: Arc<Trouble>,
}

impl Keeper {
    pub(super) fn of(subscribed: &[Arc<Subscribed>], shared: &Shared) -> Self {
        Self { subscribed: subscribed.to_vec(), stop: shared.leaving.clone(), trouble: shared.trouble.clone() }
    }

    /// Starts the thread; the answer resolves when it has ended.
    pub(super) fn start(self) -> std::io::Result<oneshot::Receiver<()>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (ended, when_ended) = oneshot::channel();
        std::thread::Builder::new().name("dtq-messages".into()).spawn(move || {
            runtime.block_on(async {
                let loops = self.subscribed.iter().map(|one| supervise("keep messages", || self.keep(one)));
                join_all(loops).await;
            });
            // Nobody may be waiting any more; then there is nobody to tell.
            let _ = ended.send(());
        })?;
        Ok(when_ended)
    }

    async fn keep(&self, subscribed: &Subscribed) {
        let inbox = subscribed.inbox.dedicated();
        // A third: two lost signs still leave time.
        let pause = subscribed.def().form.min_idle().map_or(LONGEST_PAUSE, |idle| (idle / 3).min(LONGEST_PAUSE));
        let mut outage = Outage::new("keep messages", &self.trouble);
        let mut tidied: Option<Instant> = None;
        loop {
            let due = tidied.is_none_or(|at| at.elapsed() >= TIDY);
            let pause = match round(subscribed, &*inbox, due).await {
                Ok(()) => {
                    outage.over();
                    if due {
                        tidied = Some(Instant::now());
                    }
                    pause
                }
                Err(error) => outage.failed(&error),
            };
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        // A courtesy: without it the others notice by themselves.
        if let Ok(Err(error)) = tokio::time::timeout(FAREWELL, inbox.leave()).await {
            tracing::debug!(%error, "the server did not take this worker's leave");
        }
    }
}

async fn round(subscribed: &Subscribed, inbox: &dyn Inbox, tidies: bool) -> Result<()> {
    let subscriber = subscribed.def().name;
    for id in inbox.renew().await? {
        if subscribed.live.lost(&id) {
            tracing::warn!(
                subscriber,
                id,
                "lease lost: another consumer took the message over; its handler is called off"
            );
        }
    }
    if tidies {
        let tidied = inbox.tidy().await?;
        if tidied != Default::default() {
            let (recovered, forgotten, trimmed) = (tidied.recovered, tidied.forgotten, tidied.trimmed);
            tracing::debug!(subscriber, recovered, forgotten, trimmed, "tidied");
        }
    }
    Ok(())
}
