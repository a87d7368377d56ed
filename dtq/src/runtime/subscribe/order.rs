//! Messages of one key, one after the other, in the order in which they were read; keys side by side.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who waits behind whom, by key. A key is there while a message of it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: Mutex<HashMap<String, VecDeque<oneshot::Sender<()>>>>,
}

/// A message's place in line. Dropped, the next one's turn has come.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    key: String,
    ready: Option<oneshot::Receiver<()>>,
}

impl Turns {
    /// Stands in line, behind all that came before.
    pub(super) fn enter(self: &Arc<Self>, key: String) -> Turn {
        let mut waiting = self.lock();
        let ready = match waiting.get_mut(&key) {
            Some(line) => {
                let (sender, ready) = oneshot::channel();
                line.push_back(sender);
                Some(ready)
            }
            None => {
                waiting.insert(key.clone(), VecDeque::new());
                None
            }
        };
        drop(waiting);
        Turn { turns: self.clone(), key, ready }
    }

    fn next(&self, key: &str) {
        let mut waiting = self.lock();
        let Some(line) = waiting.get_mut(key) else { return };
        while let Some(next) = line.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        waiting.remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<oneshot::Sender<()>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until all that came before are done.
    pub(super) async fn comes(&mut self) {
        if let Some(ready) = &mut self.ready {
            // The sender is dropped only by those that are in line before, which send first.
            let _ = ready.await;
            self.ready = None;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // One that leaves while it waits is passed over when its turn comes: its receiver is gone.
        if let Some(mut ready) = self.ready.take() {
            ready.close();
            // Unless the turn came just now.
            if ready.try_recv().is_err() {
                return;
            }
        }
        self.turns.next(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_key_goes_on_when_the_one_before_is_done() {
        let turns = Arc::new(Turns::default());
        let mut first = turns.enter("a".into());
        let mut second = turns.enter("a".into());
        let third = turns.enter("a".into());
        let mut other = turns.enter("b".into());
        assert!(first.comes().now_or_never().is_some() && other.comes().now_or_never().is_some());
        assert!(second.comes().now_or_never().is_none());
        drop(third);
        drop(first);
        assert!(second.comes().now_or_never().is_some());
        drop(second);
        assert!(!turns.lock().contains_key("a"));
    }

    #[test]
    fn a_turn_that_came_and_was_not_taken_goes_to_the_next() {
        let turns = Arc::new(Turns::default());
        let (first, second, mut third) = (turns.enter("a".into()), turns.enter("a".into()), turns.enter("a".into()));
        drop(first);
        drop(second);
        assert!(third.comes().now_or_never().is_some());
    }
}
