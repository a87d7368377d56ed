//! Where messages come from that dtq did not write. Plain data, built at compile time by `#[dtq::subscriber]` or by hand:
//! a name that is known only at run time is made to last with `String::leak`.

use std::fmt;
use std::time::Duration;

/// Where a subscriber's messages come from, and so what can become of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A stream read by a consumer group; a retry appends a copy.
    Stream(StreamForm),
    /// A stream read by a consumer group; a retry leaves the entry pending until it is claimed back.
    Claiming(StreamForm),
    /// A list whose entries wait on a processing list while they are worked on.
    ReliableList(ListForm),
    /// A list whose entries are gone once they were read.
    List(ListForm),
    /// A channel, a pattern of channels, or a sharded channel.
    PubSub(PubSubForm),
}

impl Form {
    /// True when a message can be acknowledged, retried and dropped. What cannot is gone from the server once it was read.
    pub const fn acknowledges(&self) -> bool {
        matches!(self, Self::Stream(_) | Self::Claiming(_) | Self::ReliableList(_))
    }

    /// Its name in `#[dtq::subscriber(..)]`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Claiming(_) => "claiming",
            Self::ReliableList(_) => "reliable_list",
            Self::List(_) => "list",
            Self::PubSub(_) => "pubsub",
        }
    }

    /// The key, the channel or the pattern that is read.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::Stream(stream) | Self::Claiming(stream) => stream.key,
            Self::ReliableList(list) | Self::List(list) => list.key,
            Self::PubSub(subscription) => subscription.channel.name(),
        }
    }

    /// How long a message may be silent before it counts as left behind.
    pub const fn min_idle(&self) -> Option<Duration> {
        match self {
            Self::Stream(stream) | Self::Claiming(stream) => stream.min_idle,
            Self::ReliableList(list) | Self::List(list) => list.min_idle,
            Self::PubSub(_) => None,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name(), self.source())
    }
}

/// Where a consumer group begins when it is made. A group that exists is taken as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// With the oldest entry.
    #[default]
    Beginning,
    /// With what comes after the group was made.
    New,
    /// After the entry of this id.
    After(&'static str),
}

/// A stream and the consumer group that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamForm {
    /// The stream.
    pub key: &'static str,
    /// The consumer group, which is made when it is missing.
    pub group: &'static str,
    /// Where the group begins when it is made.
    pub start: Start,
    /// How long an entry stays pending without a sign of life before another consumer takes it over; `None`: for ever.
    pub min_idle: Option<Duration>,
    /// The field that holds the payload, when an entry has several. Default: `payload`.
    pub payload: &'static str,
    /// What the names of fields begin with that are headers. Default: `h:`.
    pub headers: &'static str,
    /// Whether entries are deleted that every group of the stream has acknowledged.
    pub trim: bool,
}

impl StreamForm {
    /// A stream and its consumer group, with everything else at its default.
    pub const fn new(key: &'static str, group: &'static str) -> Self {
        let (payload, headers) = ("payload", "h:");
        Self { key, group, start: Start::Beginning, min_idle: None, payload, headers, trim: false }
    }

    /// Sets [`StreamForm::start`].
    pub const fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Sets [`StreamForm::min_idle`].
    pub const fn min_idle(mut self, idle: Duration) -> Self {
        self.min_idle = Some(idle);
        self
    }

    /// Sets [`StreamForm::payload`].
    pub const fn payload(mut self, field: &'static str) -> Self {
        self.payload = field;
        self
    }

    /// Sets [`StreamForm::headers`].
    pub const fn headers(mut self, prefix: &'static str) -> Self {
        self.headers = prefix;
        self
    }

    /// Deletes entries that every group of the stream has acknowledged.
    pub const fn trim(mut self) -> Self {
        self.trim = true;
        self
    }
}

/// A list. Producers push on its left end (`LPUSH`), dtq reads its right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListForm {
    /// The list.
    pub key: &'static str,
    /// How long a worker is silent before the entries on its processing list go back; only for a reliable list.
    pub min_idle: Option<Duration>,
}

impl ListForm {
    /// A list.
    pub const fn new(key: &'static str) -> Self {
        Self { key, min_idle: None }
    }

    /// Sets [`ListForm::min_idle`].
    pub const fn min_idle(mut self, idle: Duration) -> Self {
        self.min_idle = Some(idle);
        self
    }
}

/// What is subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// One channel.
    Exact(&'static str),
    /// Every channel that fits a pattern such as `orders.*`.
    Pattern(&'static str),
    /// One channel of a shard (`SSUBSCRIBE`, from Redis 7.0 on).
    Sharded(&'static str),
}

impl Channel {
    /// The channel or the pattern.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Exact(name) | Self::Pattern(name) | Self::Sharded(name) => name,
        }
    }
}

/// A subscription to channels. Who is not connected when a message is published never gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PubSubForm {
    /// What is subscribed to.
    pub channel: Channel,
    /// The channel that copies for a later attempt are published to; by default the one that is subscribed to. A pattern
    /// has no such default.
    pub back_to: Option<&'static str>,
}

impl PubSubForm {
    /// A subscription.
    pub const fn new(channel: Channel) -> Self {
        Self { channel, back_to: None }
    }

    /// Sets [`PubSubForm::back_to`].
    pub const fn back_to(mut self, channel: &'static str) -> Self {
        self.back_to = Some(channel);
        self
    }

    /// Where copies go; `None` for a pattern that names no channel for them.
    pub const fn destination(&self) -> Option<&'static str> {
        match (self.back_to, self.channel) {
            (Some(channel), _) => Some(channel),
            (None, Channel::Pattern(_)) => None,
            (None, channel) => Some(channel.name()),
        }
    }
}

/// How a retry after a delay waits, where the server has no delay of its own. A claiming subscription leaves the entry pending
/// whatever is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayedRetry {
    /// The worker acknowledges the message and keeps a copy, which it sends back when the delay is up. A crash loses it.
    InProcess,
    /// The copy waits in a sorted set on the server, and whoever reads next moves it back when it is due.
    DurableZset {
        /// How long the set lives after its latest due time; for ever, unless set.
        ttl: Option<Duration>,
    },
}

impl DelayedRetry {
    /// The way a form takes when none is named: the one that loses nothing, where there is one.
    pub const fn of(form: &Form) -> Self {
        match form {
            Form::PubSub(_) => Self::InProcess,
            _ => Self::DurableZset { ttl: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_on_the_server_can_be_acknowledged() {
        let (stream, list) = (StreamForm::new("s", "g"), ListForm::new("l"));
        let kept = [Form::Stream(stream), Form::Claiming(stream), Form::ReliableList(list)];
        assert!(kept.iter().all(Form::acknowledges));
        let gone = [Form::List(list), Form::PubSub(PubSubForm::new(Channel::Exact("c")))];
        assert!(!gone.iter().any(Form::acknowledges));
    }

    #[test]
    fn copies_go_back_to_the_channel_and_a_pattern_must_name_one() {
        let to = |channel| PubSubForm::new(channel);
        assert_eq!(to(Channel::Sharded("c")).destination(), Some("c"));
        assert_eq!(to(Channel::Pattern("c.*")).destination(), None);
        assert_eq!(to(Channel::Pattern("c.*")).back_to("c.again").destination(), Some("c.again"));
    }
}
