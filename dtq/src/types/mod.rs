//! Plain data: what a task is, what happened to it, what may happen next. No I/O, no clock.

mod audit;
mod dead_letter;
mod event;
mod form;
mod id;
mod keys;
mod lease;
mod listing;
mod message;
mod name;
mod notes;
mod options;
mod queue;
mod record;
mod schedule;
mod status;
mod timestamp;
mod worker;

pub use audit::{AuditAction, AuditEntry, By};
pub use dead_letter::{DeadLetter, DeadLetterFilter, ErrorGroup};
pub use event::{Event, EventCursor, EventKind, EventPage};
pub use form::{Channel, DelayedRetry, Form, ListForm, PubSubForm, Start, StreamForm};
#[cfg(feature = "redis")]
pub(crate) use id::ROW_MARK;
pub use id::{ParseTaskIdError, TaskId};
pub(crate) use id::{uuid_alone, uuids_in_rows};
pub use keys::{Idempotency, MAX_KEY, OnConflict, Unique, Until};
pub use lease::{Delivery, Lease};
pub use listing::{ListOrder, TaskFilter, TaskSummary};
pub use message::{Incoming, header};
pub use name::{NameError, Priority, PriorityError, QueueName, check_schedule_name, check_task_name};
pub use notes::{LogLine, Progress, Share};
pub use options::{Backoff, Deferral, NewTask, Policy};
pub use queue::{Limit, LimitChanges, Pause, QueueLimits, TaskLimit};
pub(crate) use record::cut;
pub use record::{Attempt, ErrorKind, Failure, QueueStats, Record, Requeued};
pub use schedule::{Missed, Origin, Overlap, Schedule, ScheduleId, ScheduleSpec, Timing};
pub use status::Status;
pub use timestamp::Timestamp;
pub use uuid::Uuid;
pub use worker::{WorkerId, WorkerInfo};
