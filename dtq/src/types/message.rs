//! A message that dtq did not write, as it was read.

use bytes::Bytes;

/// Headers that dtq itself writes on copies and dead letters.
pub mod header {
    /// How often the message was retried before.
    pub const RETRIES: &str = "dtq-retries";
    /// The consumer group that a copy is for: other groups of the stream have had the original.
    pub const GROUP: &str = "dtq-group";
    /// The id of the entry that a dead letter or a copy was at first.
    pub const ID: &str = "dtq-id";
    /// Where a dead letter comes from.
    pub const SOURCE: &str = "dtq-source";
    /// Why a dead letter is one: the kind, such as `panic`.
    pub const KIND: &str = "dtq-kind";
    /// Why a dead letter is one, in words.
    pub const REASON: &str = "dtq-reason";
    /// How often a dead letter was tried.
    pub const ATTEMPTS: &str = "dtq-attempts";
}

/// One message, with all that is needed to settle it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Incoming {
    /// The stream, the list or the channel it came through.
    pub source: String,
    /// The id of a stream's entry.
    pub id: Option<String>,
    /// Headers, without the prefix they have in a stream.
    pub headers: Vec<(String, Bytes)>,
    /// The fields of a stream's entry that are no headers, in order.
    pub fields: Vec<(Bytes, Bytes)>,
    /// The payload; `None` for a stream's entry with several fields, none of which is the payload's.
    pub payload: Option<Bytes>,
    /// The value as it stands in its list or came through its channel.
    pub raw: Bytes,
    /// How often the server has delivered it by its own count, this time included; 1 where it does not count.
    pub deliveries: u32,
}

impl Incoming {
    /// The header of that name.
    pub fn header(&self, name: &str) -> Option<&Bytes> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The header of that name, when it is text.
    pub fn header_text(&self, name: &str) -> Option<&str> {
        self.header(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// How often copies of it were made for another attempt.
    pub fn retries(&self) -> u32 {
        self.header_text(header::RETRIES).and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// Which attempt this is; the first is 1. Copies carry their number with them, and the server counts how often it delivered
    /// the one at hand.
    pub fn attempt(&self) -> u32 {
        self.retries().saturating_add(self.deliveries.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_counted_by_copies_and_by_deliveries() {
        let copies = |count: &'static str| vec![(header::RETRIES.to_owned(), Bytes::from_static(count.as_bytes()))];
        let attempt = |headers, deliveries| Incoming { headers, deliveries, ..Incoming::default() }.attempt();
        assert_eq!(attempt(Vec::new(), 1), 1);
        assert_eq!(attempt(Vec::new(), 3), 3);
        assert_eq!(attempt(copies("2"), 1), 3);
        assert_eq!(attempt(copies("nonsense"), 0), 1);
        assert_eq!(attempt(copies("4294967295"), 2), u32::MAX);
    }
}
