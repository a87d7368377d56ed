//! Calls that are made at the same time share round trips: while one is on its way, the next ones gather.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;

use crate::store::{Accepted, BATCH, Result, Store, StoreError};
use crate::types::NewTask;

/// The way of a client's tasks to its store.
pub(super) struct Gather {
    store: Arc<dyn Store>,
    /// The calls that wait for one on its way, by the runtime that both belong to: a call must not depend on one whose
    /// runtime stands still, or ends.
    waiting: Mutex<HashMap<Id, Vec<Rider>>>,
}

/// A call that goes along with others.
struct Rider {
    tasks: Vec<NewTask>,
    answer: oneshot::Sender<Result<Vec<Accepted>>>,
}

impl Gather {
    pub(super) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, waiting: Mutex::default() })
    }

    /// Sends tasks: at once when nothing is on its way, else with all that gathers meanwhile. A call of a whole batch or
    /// more goes by itself. Dropped while it gathers, a call is not sent.
    pub(super) async fn send(self: &Arc<Self>, mut tasks: Vec<NewTask>) -> Result<Vec<Accepted>> {
        if tasks.len() >= BATCH {
            return self.store.enqueue(tasks).await;
        }
        let runtime = Handle::current();
        let Some(riding) = self.ride(runtime.id(), &mut tasks) else {
            let _then = LetGo { gather: self, runtime };
            return self.store.enqueue(tasks).await;
        };
        riding.await.unwrap_or_else(|_| {
            let (store, detail) = (self.store.address().to_owned(), "the runtime of this call has ended".into());
            Err(StoreError::Unreachable { operation: "enqueue", store, detail })
        })
    }

    /// Goes along with the next batch, with the tasks; `None` when nothing is on its way: then this call goes ahead.
    fn ride(&self, runtime: Id, tasks: &mut Vec<NewTask>) -> Option<oneshot::Receiver<Result<Vec<Accepted>>>> {
        match self.lock().entry(runtime) {
            Entry::Vacant(nobody) => {
                nobody.insert(Vec::new());
                None
            }
            Entry::Occupied(mut riders) => {
                let (answer, riding) = oneshot::channel();
                riders.get_mut().push(Rider { tasks: std::mem::take(tasks), answer });
                Some(riding)
            }
        }
    }

    /// The riders of the next batch; none when nobody has gathered: then the next call does not wait for anything.
    fn next(&self, runtime: Id) -> Vec<Rider> {
        let mut waiting = self.lock();
        let Some(riders) = waiting.get_mut(&runtime) else { return Vec::new() };
        // Whoever has left does not want its tasks sent.
        riders.retain(|rider| !rider.answer.is_closed());
        let mut tasks = 0;
        let fits = |rider: &&Rider| {
            tasks += rider.tasks.len();
            tasks <= BATCH
        };
        let count = riders.iter().take_while(fits).count();
        let next = riders.drain(..count).collect::<Vec<_>>();
        if next.is_empty() {
            waiting.remove(&runtime);
        }
        next
    }

    /// Sends what riders have as one call, and gives each its part of the answer.
    async fn carry(&self, riders: Vec<Rider>) {
        let (mut tasks, mut shares) = (Vec::new(), Vec::with_capacity(riders.len()));
        for Rider { tasks: some, answer } in riders {
            shares.push((some.len(), answer));
            tasks.extend(some);
        }
        let mut sent = self.store.enqueue(tasks).await.map(Vec::into_iter);
        for (count, answer) in shares {
            let share = match &mut sent {
                Ok(accepted) => Ok(accepted.by_ref().take(count).collect()),
                Err(error) => Err(error.clone()),
            };
            // Who has left meanwhile does not need it.
            let _ = answer.send(share);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, Vec<Rider>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets those go who gathered behind a call, also when that call is dropped.
struct LetGo<'a> {
    gather: &'a Arc<Gather>,
    runtime: Handle,
}

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        let (id, gather) = (self.runtime.id(), self.gather.clone());
        let mut riders = gather.next(id);
        if !riders.is_empty() {
            self.runtime.spawn(async move {
                while !riders.is_empty() {
                    gather.carry(std::mem::take(&mut riders)).await;
                    riders = gather.next(id);
                }
            });
        }
    }
}
