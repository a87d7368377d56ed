//! The worker: fetch, execute, renew, settle, shut down. It knows the store contract and the registry, never a store.

#[cfg(feature = "sqlite")]
mod by_hand;
mod config;
mod declare;
mod declared_limits;
mod execute;
mod fetch;
mod held;
mod outage;
mod paused;
mod readiness;
mod renew;
mod report;
mod rooms;
mod settle;
mod subscribe;
mod supervise;
mod ticks;
mod unheard;
mod watches;
mod worker;

#[cfg(feature = "sqlite")]
pub(crate) use by_hand::{WorkerByHand, tick};
pub use config::{QueueOrder, WorkerConfig};
pub use readiness::Readiness;
pub use subscribe::SubscriberStats;
pub use worker::{RunningWorker, Stopped, Worker, WorkerError};
