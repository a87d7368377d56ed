//! Plain data: what a task is, what happened to it, what may happen next. No I/O, no clock.

mod audit;
mod event;
mod form;
mod id;
mod lease;
mod message;
mod name;
mod options;
mod record;
mod status;
mod timestamp;
mod worker;

pub use audit::{AuditAction, AuditEntry, By};
pub use event::{Event, EventCursor, EventKind, EventPage};
pub use form::{Channel, DelayedRetry, Form, ListForm, PubSubForm, Start, StreamForm};
pub use id::{ParseTaskIdError, TaskId};
pub use lease::{Delivery, Lease};
pub use message::{Incoming, header};
pub use name::{NameError, Priority, PriorityError, QueueName, check_task_name};
pub use options::{Backoff, Deferral, NewTask, Policy};
pub use record::{Attempt, DeadLetter, ErrorKind, Failure, QueueStats, Record};
pub use status::Status;
pub use timestamp::Timestamp;
pub use uuid::Uuid;
pub use worker::{WorkerId, WorkerInfo};
