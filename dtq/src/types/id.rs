//! Task identity: the queue is part of it, so any command finds the task's shard from the id alone.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use super::name::{NameError, QueueName};

/// The id of one task: `queue:uuid`, where the uuid is a UUIDv7 unless the caller chose another.
///
/// Enqueuing the same id twice makes one task, as long as the first one's record lives.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId {
    queue: QueueName,
    uuid: Uuid,
}

/// By the uuid alone: ids differ in it, and each worker and each batch hashes every id several times.
impl Hash for TaskId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.uuid.as_u128());
    }
}

impl TaskId {
    /// A new id in `queue`. Its time part orders listings; nothing is decided by it.
    pub fn generate(queue: QueueName) -> Self {
        Self { queue, uuid: uuid_alone() }
    }

    /// An id with a uuid of the caller's choice, for producers that repeat a submission.
    pub fn new(queue: QueueName, uuid: Uuid) -> Self {
        Self { queue, uuid }
    }

    /// The queue the task belongs to.
    pub fn queue(&self) -> &QueueName {
        &self.queue
    }

    /// The part that is unique within the queue.
    pub fn uuid(&self) -> Uuid {
        self.uuid
    }
}

/// The last byte but one of a uuid that stands in a row; of others it is random.
pub(crate) const ROW_MARK: u8 = 0xb0;

/// A new UUIDv7 for one task, not marked as one of a row.
pub(crate) fn uuid_alone() -> Uuid {
    let mut bytes = Uuid::now_v7().into_bytes();
    if bytes[14] == ROW_MARK {
        bytes[14] = !ROW_MARK;
    }
    Uuid::from_bytes(bytes)
}

/// New UUIDv7s for tasks that go together: so many in a row differ in their last byte only, and count up there, as RFC 9562
/// (6.2) allows to those who make many at once. A store can treat a row as one.
pub(crate) fn uuids_in_rows(length: u8) -> impl Iterator<Item = Uuid> {
    std::iter::repeat_with(Uuid::now_v7).flat_map(move |first| {
        (0..length).map(move |number| {
            let mut bytes = first.into_bytes();
            bytes[14..].copy_from_slice(&[ROW_MARK, number]);
            Uuid::from_bytes(bytes)
        })
    })
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.queue, self.uuid)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseTaskIdError {
    /// No `queue:uuid` shape.
    #[error("{0:?} is not a task id: ids look like default:0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e")]
    Shape(String),
    /// The part before the colon is not a queue name.
    #[error(transparent)]
    Queue(#[from] NameError),
}

impl FromStr for TaskId {
    type Err = ParseTaskIdError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shape = || ParseTaskIdError::Shape(text.chars().take(100).collect());
        let (queue, uuid) = text.split_once(':').ok_or_else(shape)?;
        let uuid = Uuid::parse_str(uuid).map_err(|_| shape())?;
        Ok(Self { queue: QueueName::new(queue)?, uuid })
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_up_and_no_two_are_alike() {
        let uuids: Vec<_> = uuids_in_rows(128).take(300).collect();
        assert_eq!(uuids.iter().collect::<std::collections::HashSet<_>>().len(), 300);
        assert!(uuids.iter().all(|uuid| uuid.get_version_num() == 7));
        for row in uuids.chunks(128) {
            assert!(row.iter().zip(0..).all(|(uuid, number)| {
                uuid.as_bytes()[..15] == row[0].as_bytes()[..15] && uuid.as_bytes()[15] == number
            }));
        }
        assert_ne!(uuids[0].as_bytes()[..15], uuids[128].as_bytes()[..15]);
    }

    #[test]
    fn an_id_survives_its_text() {
        let id = TaskId::generate(QueueName::new("high").unwrap());
        assert_eq!(id.to_string().parse::<TaskId>().unwrap(), id);
        assert!("high".parse::<TaskId>().is_err());
        assert!("a b:0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e".parse::<TaskId>().is_err());
    }
}
