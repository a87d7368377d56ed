//! Reading what a task told of itself.

use std::vec::IntoIter;

use redis::Value;

use super::reply;
use crate::types::{LogLine, Progress, Record, Share, Timestamp};

/// Puts the fields of a task's notes and the lines of its log into its record.
pub(super) fn read_into(mut record: Record, notes: Value, log: Value) -> Option<Record> {
    let mut fields = flat(notes)?;
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        match reply::text(name)?.as_str() {
            "p" => record.progress = Some(progress(&reply::text(value)?)?),
            "c" => record.checkpoint = reply::bytes(value),
            // The count of lines, or of a newer version.
            _ => {}
        }
    }
    record.log = reply::list_or_nil(log)?.into_iter().map(|text| line(&reply::text(text)?)).collect::<Option<_>>()?;
    Some(record)
}

/// The names and values of a hash: some versions of the protocol pair them.
fn flat(hash: Value) -> Option<IntoIter<Value>> {
    match hash {
        Value::Map(pairs) => {
            Some(pairs.into_iter().flat_map(|(name, value)| [name, value]).collect::<Vec<_>>().into_iter())
        }
        hash => Some(reply::list_or_nil(hash)?.into_iter()),
    }
}

fn progress(text: &str) -> Option<Progress> {
    let mut words = text.splitn(4, ' ');
    let attempt = words.next()?.parse().ok()?;
    let at = Timestamp::from_millis(words.next()?.parse().ok()?);
    let done = Share::from_millionths(words.next()?.parse().ok()?);
    Some(Progress { done, message: words.next()?.to_owned(), attempt, at })
}

fn line(text: &str) -> Option<LogLine> {
    let mut words = text.splitn(3, ' ');
    let at = Timestamp::from_millis(words.next()?.parse().ok()?);
    Some(LogLine { at, attempt: words.next()?.parse().ok()?, text: words.next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_spaces_and_breaks() {
        let it = progress("2 17 250000 a b\nc ").unwrap();
        assert_eq!((it.attempt, it.done, it.message.as_str()), (2, Share::of(0.25), "a b\nc "));
        assert_eq!(line("17 3 ").unwrap().text, "");
        assert_eq!(line("17 3  a").unwrap().text, " a");
        assert!(progress("2 17").is_none() && line("x 3 a").is_none());
    }
}
