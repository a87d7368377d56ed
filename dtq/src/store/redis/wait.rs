//! Waiting for work without polling.
//!
//! A queue's `wake` list holds one token when its tasks may be ready. A watcher (one task for each set of queues that
//! this handle waits on) pops it with BLPOP on a connection of its own, and hands it to one waiter. It asks again every ten
//! seconds at most, and only while somebody waits. The command stays outstanding when a waiter's own time is up, since
//! servers end a block up to 100 ms late; a token that then finds nobody goes back at once.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::dial::Connection;
use super::keys::Keys;
use super::link::Link;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{Result, StoreError, Wait};
use crate::types::QueueName;

const OPERATION: &str = "wait";
/// How long one BLPOP blocks. Workers look for themselves more often than this, on another connection, so a connection
/// that fell silent delays nobody for so long.
const BLOCK: Duration = Duration::from_secs(10);
/// How long a watcher stays when nobody waits.
const LINGER: Duration = Duration::from_secs(10);

/// What a waiter gets: a token, or the reason why none can be had.
type Outcome = Result<Token>;

/// The watchers of one handle, by the queues they watch.
#[derive(Debug)]
pub(super) struct Waiting {
    link: Arc<Link>,
    keys: Keys,
    watchers: Watchers,
}

type Watchers = Arc<Mutex<HashMap<Vec<QueueName>, Watched>>>;

/// A watcher and the task that runs it.
#[derive(Debug)]
struct Watched {
    watcher: Arc<Watcher>,
    task: JoinHandle<()>,
}

impl Waiting {
    pub(super) fn new(link: Arc<Link>, keys: Keys) -> Self {
        Self { link, keys, watchers: Arc::default() }
    }

    pub(super) async fn wait(&self, wait: Wait) -> Result<()> {
        let answer = self.enroll(wait.queues);
        match tokio::time::timeout(wait.timeout, answer).await {
            Ok(Ok(outcome)) => outcome.map(Token::spend),
            // Nothing came; or the watcher ended with its runtime.
            Err(_) | Ok(Err(_)) => Ok(()),
        }
    }

    /// Joins the waiters of these queues, with a watcher behind them.
    fn enroll(&self, mut queues: Vec<QueueName>) -> oneshot::Receiver<Outcome> {
        queues.sort();
        queues.dedup();
        let (sender, receiver) = oneshot::channel();
        let mut watchers = locked(&self.watchers);
        // A task that ended without leaving the map ended with its runtime.
        watchers.retain(|_, watched| !watched.task.is_finished());
        let watched = watchers.entry(queues).or_insert_with_key(|queues| self.start(queues));
        locked(&watched.watcher.waiters).push_back(sender);
        watched.watcher.stirred.notify_one();
        receiver
    }

    fn start(&self, queues: &[QueueName]) -> Watched {
        let watcher = Arc::new(Watcher::new(&self.keys, queues));
        let (link, watchers, shared, queues) =
            (self.link.clone(), self.watchers.clone(), watcher.clone(), queues.to_vec());
        let task = self.link.runtime().spawn(async move {
            loop {
                shared.watch(&link).await;
                let mut watchers = locked(&watchers);
                // Somebody may have joined since the watcher decided to leave.
                if locked(&shared.waiters).is_empty() {
                    watchers.remove(&queues);
                    return;
                }
            }
        });
        Watched { watcher, task }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for watched in locked(&self.watchers).values() {
            watched.watcher.closed.store(true, Ordering::Release);
            watched.watcher.stirred.notify_one();
        }
    }
}

#[derive(Debug)]
struct Watcher {
    /// The command that waits.
    pop: Cmd,
    /// The root of each wake-up key.
    roots: HashMap<String, String>,
    waiters: Mutex<VecDeque<oneshot::Sender<Outcome>>>,
    /// A waiter joined, or the handle was dropped.
    stirred: Notify,
    closed: AtomicBool,
}

impl Watcher {
    fn new(keys: &Keys, queues: &[QueueName]) -> Self {
        let mut pop = redis::cmd("BLPOP");
        for queue in queues {
            pop.arg(keys.wake(queue));
        }
        pop.arg(BLOCK.as_secs());
        let roots = queues.iter().map(|queue| (keys.wake(queue), keys.root(queue))).collect();
        let (waiters, stirred, closed) = Default::default();
        Self { pop, roots, waiters, stirred, closed }
    }

    /// Serves waiters until there have been none for a while.
    async fn watch(&self, link: &Arc<Link>) {
        let mut connection = None;
        loop {
            if self.somebody_waits() {
                match self.next(link, &mut connection).await {
                    Ok(Some(token)) => self.hand_over(token),
                    Ok(None) => {}
                    Err(error) => {
                        connection = None;
                        self.fail(&error);
                    }
                }
            } else if self.closed.load(Ordering::Acquire)
                || tokio::time::timeout(LINGER, self.stirred.notified()).await.is_err()
            {
                return;
            }
        }
    }

    fn somebody_waits(&self) -> bool {
        let mut waiters = locked(&self.waiters);
        waiters.retain(|waiter| !waiter.is_closed());
        !waiters.is_empty()
    }

    async fn next(&self, link: &Arc<Link>, connection: &mut Option<Connection>) -> Result<Option<Token>> {
        let connection = match connection {
            Some(connection) if connection.is_open() => connection,
            none => none.insert(link.blocking(OPERATION).await?),
        };
        let answer = link.run_blocking(OPERATION, connection, &self.pop, BLOCK).await?;
        let key = match answer {
            Value::Nil => return Ok(None),
            answer => reply::list(answer).and_then(|parts| reply::text(parts.into_iter().next()?)),
        };
        let root = key.and_then(|key| self.roots.get(&key).cloned());
        let root = root.ok_or_else(|| link.corrupt(OPERATION, "an unexpected answer to BLPOP"))?;
        Ok(Some(Token { link: link.clone(), root, spent: false }))
    }

    /// Gives the token to the first waiter that is still there. Without one it is dropped, and so goes back.
    fn hand_over(&self, token: Token) {
        let mut outcome = Ok(token);
        loop {
            let Some(waiter) = locked(&self.waiters).pop_front() else { return };
            match waiter.send(outcome) {
                Ok(()) => return,
                Err(returned) => outcome = returned,
            }
        }
    }

    fn fail(&self, error: &StoreError) {
        for waiter in locked(&self.waiters).drain(..) {
            // Whoever has left does not need to know.
            let _ = waiter.send(Err(error.clone()));
        }
    }
}

/// The right to look for work. Dropped unspent, it goes back to the server for another worker.
#[derive(Debug)]
struct Token {
    link: Arc<Link>,
    root: String,
    spent: bool,
}

impl Token {
    fn spend(mut self) {
        self.spent = true;
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // Without a runtime nothing can be sent any more; other workers wake by their own timeouts.
        if self.spent || Handle::try_current().is_err() {
            return;
        }
        let (link, root) = (self.link.clone(), std::mem::take(&mut self.root));
        self.link.runtime().spawn(async move {
            let script = &SCRIPTS.nudge;
            if let Err(error) = link.eval(OPERATION, script, &Link::call(script, &root)).await {
                tracing::debug!(%error, "a wake-up could not be given back");
            }
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
