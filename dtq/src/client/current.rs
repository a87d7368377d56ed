//! Which client `enqueue` uses when none is named.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use tokio::task::futures::TaskLocalFuture;

use super::Client;
use crate::connect;
use crate::store::StoreError;

tokio::task_local! {
    static SCOPED: Client;
}

thread_local! {
    /// Of a thread that belongs to a test: what it spawns is outside of any scope, and must not end up in a real store.
    static OF_THREAD: RefCell<Option<Client>> = const { RefCell::new(None) };
}

static PROCESS: Mutex<Option<Client>> = Mutex::new(None);

/// The future of [`Client::scope`].
pub type ClientScope<F> = TaskLocalFuture<Client, F>;

pub(super) fn get() -> Result<Client, StoreError> {
    if let Ok(client) = SCOPED.try_with(Client::clone) {
        return Ok(client);
    }
    if let Ok(Some(client)) = OF_THREAD.try_with(|client| client.borrow().clone()) {
        return Ok(client);
    }
    // Held while the client is made, so that two first uses make one. Making it does no network I/O.
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = process.as_ref() {
        return Ok(client.clone());
    }
    let client = Client::connect(&connect::configured_url()?)?;
    Ok(process.insert(client).clone())
}

pub(super) fn set(client: Client) -> bool {
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let free = process.is_none();
    if free {
        *process = Some(client);
    }
    free
}

/// Takes the client of the surrounding scope, if there is one, along to another thread.
pub(super) fn carry<R>(function: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let scoped = SCOPED.try_with(Client::clone).ok();
    move || match scoped {
        Some(client) => SCOPED.sync_scope(client, function),
        None => function(),
    }
}

pub(super) fn scope<F: Future>(client: Client, future: F) -> ClientScope<F> {
    SCOPED.scope(client, future)
}

/// Makes the client this thread's own; gives the one before it.
#[cfg(feature = "sqlite")]
pub(super) fn replace_of_thread(client: Option<Client>) -> Option<Client> {
    OF_THREAD.with(|slot| slot.replace(client))
}
