//! Dead letters: which of them are meant, and which are alike.

use std::fmt;
use std::time::Duration;

use super::id::TaskId;
use super::record::{ErrorKind, Failure, cut};
use super::timestamp::Timestamp;

/// One entry of a queue's dead-letter list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Position in the list: pass it as `after` to read on.
    pub position: String,
    /// The task.
    pub id: TaskId,
    /// Its registered name.
    pub task: String,
    /// When it was dead-lettered.
    pub at: Timestamp,
    /// The attempt that failed last.
    pub attempt: u32,
    /// Why.
    pub failure: Failure,
}

/// Which dead letters of a queue are meant: those that fit all that is set. The default fits all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeadLetterFilter {
    /// Of the task of this registered name.
    pub task: Option<String>,
    /// Whose last failure is of this kind.
    pub kind: Option<ErrorKind>,
    /// Whose last failure's message contains this text, letter by letter.
    pub text: Option<String>,
    /// Dead for longer than this, by the store's clock.
    pub older_than: Option<Duration>,
    /// Dead for this long at most, by the store's clock.
    pub newer_than: Option<Duration>,
}

impl DeadLetterFilter {
    /// True when a letter fits. `now` is the store's clock.
    pub fn fits(&self, letter: &DeadLetter, now: Timestamp) -> bool {
        let age = now.since(letter.at);
        self.task.as_ref().is_none_or(|task| *task == letter.task)
            && self.kind.is_none_or(|kind| kind == letter.failure.kind)
            && self.text.as_ref().is_none_or(|text| letter.failure.message.contains(text))
            && self.older_than.is_none_or(|limit| age > limit)
            && self.newer_than.is_none_or(|limit| age <= limit)
    }
}

/// In words, as the audit log keeps it.
impl fmt::Display for DeadLetterFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dead letters")?;
        let mut words = Words { f, first: true };
        words.add("of task", self.task.as_ref())?;
        words.add("of kind", self.kind.map(ErrorKind::as_str).as_ref())?;
        words.add("saying", self.text.as_ref().map(|text| format!("{text:?}")).as_ref())?;
        words.add("older than", self.older_than.map(humantime::format_duration).as_ref())?;
        words.add("not older than", self.newer_than.map(humantime::format_duration).as_ref())
    }
}

/// A row of conditions.
pub(super) struct Words<'a, 'f> {
    pub(super) f: &'a mut fmt::Formatter<'f>,
    pub(super) first: bool,
}

impl Words<'_, '_> {
    pub(super) fn add(&mut self, what: &str, value: Option<&impl fmt::Display>) -> fmt::Result {
        let Some(value) = value else { return Ok(()) };
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(self.f, "{comma} {what} {value}")
    }
}

/// Dead letters that failed alike: of one task, one kind of error, and messages that differ in numbers only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorGroup {
    /// The task's registered name.
    pub task: String,
    /// The kind of the last failure.
    pub kind: ErrorKind,
    /// What the messages share: see [`ErrorGroup::shared`].
    pub message: String,
    /// How many letters.
    pub count: u64,
    /// When the first of them died.
    pub first_at: Timestamp,
    /// When the latest did.
    pub last_at: Timestamp,
    /// The latest one, to look at.
    pub example: TaskId,
}

impl ErrorGroup {
    /// The longest shared message, in bytes.
    pub const MAX_MESSAGE: usize = 200;

    /// What remains of a message when its variable parts are left out: the first line, with `#` for each number and for
    /// each word of hexadecimal digits (ids, hashes, addresses), cut after [`ErrorGroup::MAX_MESSAGE`] bytes.
    pub fn shared(message: &str) -> String {
        let mut out = String::new();
        let mut rest = message.lines().next().unwrap_or_default();
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
            if word == 0 {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            without_numbers(&rest[..word], &mut out);
            rest = &rest[word..];
        }
        cut(out, Self::MAX_MESSAGE)
    }
}

fn without_numbers(word: &str, out: &mut String) {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let hexadecimal = digits.bytes().all(|it| it.is_ascii_hexdigit()) && digits.bytes().any(|it| it.is_ascii_digit());
    if hexadecimal && !digits.is_empty() {
        out.push('#');
        return;
    }
    let mut in_number = false;
    for letter in word.chars() {
        if !letter.is_ascii_digit() {
            out.push(letter);
        } else if !in_number {
            out.push('#');
        }
        in_number = letter.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_numbers_are_alike() {
        let shared = ErrorGroup::shared;
        assert_eq!(shared("order 17 of 3 failed after 2.5s"), "order # of # failed after #.#s");
        assert_eq!(shared("id 0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e gone"), "id #-#-#-#-# gone");
        assert_eq!(shared("at 0xdeadbeef1: a bad fee"), "at #: a bad fee");
        assert_eq!(shared("one\ntwo"), "one");
        assert_eq!(shared("é 1 \u{2028}2"), "é # \u{2028}#");
        assert_eq!(shared(""), "");
        assert!(shared(&"é".repeat(5000)).len() <= ErrorGroup::MAX_MESSAGE);
    }

    #[test]
    fn a_filter_says_what_it_means() {
        assert_eq!(DeadLetterFilter::default().to_string(), "dead letters");
        let filter = DeadLetterFilter {
            task: Some("charge".into()),
            kind: Some(ErrorKind::Panic),
            text: Some("a \"b\"".into()),
            older_than: Some(Duration::from_secs(3600)),
            newer_than: None,
        };
        let words = "dead letters of task charge, of kind panic, saying \"a \\\"b\\\"\", older than 1h";
        assert_eq!(filter.to_string(), words);
    }
}
