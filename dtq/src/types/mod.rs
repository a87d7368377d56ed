//! Plain data: what a task is, what happened to it, what may happen next. No I/O, no clock.

mod audit;
mod event;
mod id;
mod lease;
mod name;
mod options;
mod queue;
mod record;
mod status;
mod timestamp;
mod worker;

pub use audit::{AuditAction, AuditEntry, By};
pub use event::{Event, EventCursor, EventKind, EventPage};
pub use id::{ParseTaskIdError, TaskId};
pub use lease::{Delivery, Lease};
pub use name::{NameError, Priority, PriorityError, QueueName, check_task_name};
pub use options::{Backoff, Deferral, NewTask, Policy};
pub use queue::{Limit, LimitChanges, Pause, QueueLimits, TaskLimit};
pub use record::{Attempt, DeadLetter, ErrorKind, Failure, QueueStats, Record};
pub use status::Status;
pub use timestamp::Timestamp;
pub use uuid::Uuid;
pub use worker::{WorkerId, WorkerInfo};
