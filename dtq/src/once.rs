//! Work within a handler that is done at most once per key: `Context::once`.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec;
use crate::error::{IntoTaskError, Marked, TaskError};
use crate::policy;
use crate::store::{OnceEnd, OnceRequest, OnceState, Result as StoreResult, Store, StoreError};
use crate::types::Lease;

/// The future of [`Context::once`](crate::Context::once).
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Marked>> + Send + 'a>>;

/// A result that can be remembered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of `ctx.once`: it must be `Serialize` and `Deserialize`",
    label = "the result is remembered for the next attempt, so this type and all inside it must be written and read",
    note = "derive it where the type is defined: `#[derive(serde::Serialize, serde::Deserialize)]`",
    note = "return `()` when nobody needs the result"
)]
pub trait Remembered: Sized {
    /// What is kept of it.
    ///
    /// # Errors
    /// What the type's `Serialize` says, or what JSON cannot hold.
    fn noted(&self) -> Result<Bytes, String>;

    /// It, out of what was kept.
    ///
    /// # Errors
    /// When another type was kept.
    fn recall(kept: &[u8]) -> Result<Self, String>;
}

// Serde's traits are no supertraits: the compiler would tell of those instead, once for each.
#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Remembered for T {
    fn noted(&self) -> Result<Bytes, String> {
        codec::encode(self)
    }

    fn recall(kept: &[u8]) -> Result<T, String> {
        codec::decode(kept)
    }
}

/// Bytes of a key at most.
const LONGEST_KEY: usize = 512;
/// How long to wait before asking again while another attempt is at it, or the store is away.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What one attempt remembers of such work.
#[derive(Debug)]
pub(crate) struct OnceKeeper {
    memory: Memory,
    /// One lock per key: two futures of one attempt share a lease, so the store cannot tell them apart.
    keys: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

enum Memory {
    /// Of all attempts, in the store.
    Shared(Arc<dyn Store>),
    /// Of a context that belongs to no worker: of that one only.
    Own(Mutex<HashMap<String, Bytes>>),
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Shared(_) => "Shared",
            Self::Own(_) => "Own",
        })
    }
}

impl OnceKeeper {
    pub(crate) fn shared(store: Arc<dyn Store>) -> Self {
        Self { memory: Memory::Shared(store), keys: Mutex::default() }
    }

    pub(crate) fn own() -> Self {
        Self { memory: Memory::Own(Mutex::default()), keys: Mutex::default() }
    }

    pub(crate) async fn once<T, E, M, F>(
        &self,
        lease: &Lease,
        key: String,
        ttl: Duration,
        work: impl FnOnce() -> F,
    ) -> Result<T, Marked>
    where
        T: Remembered,
        E: IntoTaskError<M>,
        F: Future<Output = Result<T, E>>,
    {
        if key.is_empty() || key.len() > LONGEST_KEY {
            let length = key.len();
            return Err(permanent(format!("the key of ctx.once has {length} bytes; it must have 1 to {LONGEST_KEY}")));
        }
        let run = fastrand::u64(..);
        let lock = self.lock_of(&key);
        let _alone = lock.lock().await;
        if let Some(result) = self.begin(lease, &key, run).await? {
            return T::recall(&result).map_err(|why| {
                permanent(format!("the remembered result of {key:?} is not of the type that is asked for: {why}"))
            });
        }
        let done = work().await.map_err(IntoTaskError::into_task_error);
        let failure = match done {
            Err(error) => error.into(),
            Ok(value) => match value.noted() {
                Ok(result) => return self.end(lease, &key, run, Some((result, ttl))).await.map(|()| value),
                Err(why) => permanent(format!("the result of {key:?} cannot be encoded: {why}")),
            },
        };
        // Also when the lease is lost by now: the failure is what there is to tell.
        self.end(lease, &key, run, None).await.ok();
        Err(failure)
    }

    fn lock_of(&self, key: &str) -> Arc<tokio::sync::Mutex<()>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone()
    }

    /// The remembered result, or `None` when the work is to be done now.
    async fn begin(&self, lease: &Lease, key: &str, run: u64) -> Result<Option<Bytes>, Marked> {
        let store = match &self.memory {
            Memory::Own(done) => return Ok(done.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()),
            Memory::Shared(store) => store,
        };
        let mut pauses = Pauses::default();
        loop {
            let request = OnceRequest { lease: lease.clone(), key: key.to_owned(), run };
            match patiently(|| store.begin_once(request.clone())).await? {
                OnceState::Begun => return Ok(None),
                OnceState::Done(result) => return Ok(Some(result)),
                OnceState::Lost => return Err(lost(key)),
                // Whoever is at it ends, or loses its lease.
                OnceState::Busy => pauses.next().await,
            }
        }
    }

    async fn end(&self, lease: &Lease, key: &str, run: u64, done: Option<(Bytes, Duration)>) -> Result<(), Marked> {
        match &self.memory {
            Memory::Own(known) => {
                if let Some((result, _)) = done {
                    known.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), result);
                }
                Ok(())
            }
            Memory::Shared(store) => {
                let end = OnceEnd { lease: lease.clone(), key: key.to_owned(), run, done };
                let mine = patiently(|| store.end_once(end.clone())).await?;
                if mine { Ok(()) } else { Err(lost(key)) }
            }
        }
    }
}

/// Calls until the store answers, or refuses this very call: what was done must not be forgotten because the store was
/// away, or must be mended first (a changed password, a moved file). The attempt's own bounds end this, too.
async fn patiently<T, F: Future<Output = StoreResult<T>>>(mut call: impl FnMut() -> F) -> Result<T, Marked> {
    let mut pauses = Pauses::default();
    loop {
        match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) if !error.is_of_the_call() => {
                tracing::debug!(%error, "work that is done once waits for the store");
                pauses.next().await;
            }
            Err(error) => return Err(refused(error)),
        }
    }
}

/// Longer and longer waits.
#[derive(Default)]
struct Pauses {
    taken: u32,
}

impl Pauses {
    async fn next(&mut self) {
        let pause = policy::growing_pause(FIRST_PAUSE, LONGEST_PAUSE, self.taken, fastrand::f64());
        self.taken = self.taken.saturating_add(1);
        tokio::time::sleep(pause).await;
    }
}

fn permanent(message: String) -> Marked {
    TaskError::permanent(message).into()
}

fn refused(error: StoreError) -> Marked {
    TaskError::new(error).into()
}

fn lost(key: &str) -> Marked {
    TaskError::new(format!("this attempt lost its lease; another one may do what {key:?} stands for")).into()
}
