//! The loop that reads one subscriber's messages: only while there is a slot for them.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::outage::Outage;
use super::super::readiness::Heart;
use super::handle::Subscribed;
use crate::store::{BATCH, Result};

pub(super) struct Reader {
    subscribed: Arc<Subscribed>,
    /// One permit per message that the subscriber may hold here.
    room: Arc<Semaphore>,
    heart: Heart,
}

impl Reader {
    pub(super) fn new(subscribed: Arc<Subscribed>, heart: Heart) -> Self {
        let room = subscribed.bound().min(Semaphore::MAX_PERMITS);
        Self { subscribed, room: Arc::new(Semaphore::new(room)), heart }
    }

    /// Reads until the worker stops. A read on its way is never dropped: what it brings would be unknown here.
    pub(super) async fn run(&self) {
        let mut outage = Outage::new("read messages", &self.subscribed.shared.trouble);
        let mut prepared = false;
        while let Some(Some(room)) = self.unless_stopping(self.some_room()).await {
            let read = match prepared {
                true => self.read(room).await,
                false => self.prepare().await.map(|()| prepared = true),
            };
            match read {
                Ok(()) => outage.over(),
                Err(error) => {
                    let pause = outage.failed(&error);
                    self.unless_stopping(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    /// Room for a message, when there is a slot to work on it: what is read waits on its server as long as it can.
    async fn some_room(&self) -> Option<OwnedSemaphorePermit> {
        let mut room = self.room.clone().acquire_owned().await.ok()?;
        let slots = &self.subscribed.shared.slots;
        drop(slots.acquire().await.ok()?);
        let more = self.room.available_permits().min(slots.available_permits().saturating_sub(1)).min(BATCH - 1);
        if let Ok(rest) = self.room.clone().try_acquire_many_owned(u32::try_from(more).unwrap_or(0)) {
            room.merge(rest);
        }
        Some(room)
    }

    async fn prepare(&self) -> Result<()> {
        self.heart.tries(Instant::now());
        self.subscribed.inbox.prepare().await?;
        self.heart.reached();
        Ok(())
    }

    async fn read(&self, mut room: OwnedSemaphorePermit) -> Result<()> {
        let block = self.subscribed.shared.block;
        self.heart.tries(Instant::now() + block);
        let messages = self.subscribed.inbox.read(room.num_permits(), block).await?;
        self.heart.reached();
        for message in messages {
            // A server may give more than it was asked for; it is all here now, so it is all worked on.
            let Some(one) = room.split(1).or_else(|| room.split(0)) else { continue };
            self.subscribed.start(message, one);
        }
        Ok(())
    }

    /// `None` when the worker stops first.
    async fn unless_stopping<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.subscribed.shared.stopping.cancelled() => None,
            done = future => Some(done),
        }
    }
}
