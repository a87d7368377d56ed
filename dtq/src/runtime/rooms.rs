//! How much a worker may hold: tasks that run or wait for a slot, and ends that the store does not know of yet.
//!
//! A task gives its place on as soon as its handler has ended, so the round trip of its settlement costs no concurrency.
//! As many ends as there are places may be unsettled beside: when settlements do not pass, claims stop.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All the room there is.
#[derive(Debug)]
pub(super) struct Rooms {
    /// One permit per task that runs or waits for a slot.
    places: Arc<Semaphore>,
    /// One per task from its claim until the store knows of its end.
    held: Arc<Semaphore>,
}

/// Room for some tasks.
#[derive(Debug)]
pub(super) struct Room {
    places: OwnedSemaphorePermit,
    held: Unsettled,
}

/// What tasks that have ended still take up.
pub(super) type Unsettled = OwnedSemaphorePermit;

impl Rooms {
    /// For so many tasks at work, and so many beside them that have ended.
    pub(super) fn new(places: usize, unsettled: usize) -> Self {
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self { places: permits(places), held: permits(places.saturating_add(unsettled)) }
    }

    /// For how many tasks there is room now.
    pub(super) fn free(&self) -> usize {
        self.places.available_permits().min(self.held.available_permits())
    }

    /// Waits for room for `least` tasks and takes all there is, up to `most`. Dropping the future is safe.
    pub(super) async fn some(&self, least: usize, most: usize) -> Option<Room> {
        if self.free() < least {
            let count = u32::try_from(least).ok()?;
            drop(self.places.clone().acquire_many_owned(count).await.ok()?);
            drop(self.held.clone().acquire_many_owned(count).await.ok()?);
            // What ends in this very moment makes room, too.
            tokio::task::yield_now().await;
        }
        self.take(most)
    }

    /// Takes the room there is, up to `most`.
    pub(super) fn take(&self, most: usize) -> Option<Room> {
        let count = u32::try_from(self.free().min(most)).ok().filter(|&count| count > 0)?;
        let places = self.places.clone().try_acquire_many_owned(count).ok()?;
        let held = self.held.clone().try_acquire_many_owned(count).ok()?;
        Some(Room { places, held })
    }
}

impl Room {
    /// For how many tasks it is.
    pub(super) fn count(&self) -> usize {
        self.places.num_permits()
    }

    /// Takes away the room of one task; `None` when there is none.
    pub(super) fn split(&mut self) -> Option<Self> {
        Some(Self { places: self.places.split(1)?, held: self.held.split(1)? })
    }

    /// The tasks have ended, and others may come in their place.
    pub(super) fn ended(self) -> Unsettled {
        self.held
    }
}

/// The store knows of these ends. All at once: whoever waits for room is woken once.
pub(super) fn free(ends: Vec<Unsettled>) {
    let all = ends.into_iter().reduce(|mut all, one| {
        all.merge(one);
        all
    });
    drop(all);
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn an_end_gives_its_place_on_before_it_is_settled_but_no_more_ends_gather_than_may() {
        let rooms = Rooms::new(2, 1);
        let mut room = rooms.take(5).unwrap();
        assert_eq!((room.count(), rooms.free()), (2, 0));
        let first = room.split().unwrap().ended();
        assert_eq!(rooms.free(), 1, "one has ended, one runs");
        let second = room.ended();
        assert_eq!(rooms.free(), 1, "two have ended; one more may be held");
        let third = rooms.take(5).unwrap().ended();
        assert!(rooms.take(1).is_none(), "nothing runs, and yet there is no room");
        free(vec![first, third]);
        assert_eq!(rooms.take(5).unwrap().count(), 2);
        drop(second);
    }

    #[tokio::test]
    async fn room_for_many_is_waited_for_and_a_dropped_wait_takes_none() {
        let rooms = Rooms::new(3, 0);
        let mut room = rooms.some(1, 2).await.unwrap();
        assert_eq!(room.count(), 2);
        assert!(rooms.some(2, 3).now_or_never().is_none());
        assert_eq!(rooms.free(), 1);
        let more = rooms.some(2, 3);
        drop(room.split());
        assert_eq!(more.await.unwrap().count(), 2);
    }
}
