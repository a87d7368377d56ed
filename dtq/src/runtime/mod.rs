//! The worker: fetch, execute, renew, settle, shut down. It knows the store contract and the registry, never a store.

mod config;
mod execute;
mod fetch;
mod held;
mod outage;
mod readiness;
mod renew;
mod settle;
mod subscribe;
mod supervise;
mod unheard;
mod worker;

pub use config::{QueueOrder, WorkerConfig};
pub use readiness::Readiness;
pub use subscribe::SubscriberStats;
pub use worker::{RunningWorker, Stopped, Worker, WorkerError};
