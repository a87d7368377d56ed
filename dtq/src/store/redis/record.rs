//! The record of a task: one string, written by scripts and here, read by both.
//!
//! ```text
//! Q<attempt> <band> <entry id>[ s<start ms>][ v<entry released from>]     queued; running when the entry is pending
//! P|R<attempt> <band> <due ms> <entry it came from, or 0>                 pending, retrying
//! S|F|D|C|X<attempt> <band> <finish ms> <entry it came from, or 0>        finished
//! ```
//!
//! A line break and sections may follow, each `<letter><length>:<bytes>`: `t` task, `m` meta, `p` payload, `w` the
//! reason for which a running task is asked to stop, `h` history, `i` and `u` the keys it holds (see `lua/held.lua`), `l`
//! what a running task counts for (see `lua/slots.lua`), `g` which notes there are of what its attempts told of themselves
//! (see `lua/report.lua`), `d` a dead letter's place in the list, `o` when it was discarded (ms). While a task is queued or
//! running its envelope (t, m, p) is in the stream entry instead, except for newer arguments (p) that took the place of
//! the entry's. A task that was just queued has the packed form of `lua/record.lua`, one
//! integer, or shares one record with those that were queued together (`lua/block.lua`), since most records of a long queue
//! are of that kind; scripts hand out the text only.
//!
//! Meta is a row of `<letter><number>`, each left out when it says the usual: `x` time to live in ms (always first), `n`
//! max attempts (5), `d0` no dead letters, `k` retention in ms (an hour), `t` timeout in ms, `a` the time of acceptance
//! (told by the id of the first entry); and of a task that was requeued `q` how often, `e` the attempts of its earlier lives, `b`
//! when (ms). So the usual policy takes no room. The history holds a line for each ended
//! attempt: `<number> <start> <end> <kind> <message>`, where `\n` and `\\` stand for a line break and a backslash.

use std::time::Duration;

use bytes::Bytes;

use crate::types::{
    Attempt, ErrorKind, Failure, Policy, Priority, Record, Requeued, Status, TaskId, TaskSummary, Timestamp,
};

/// The longest duration that is stored: a hundred years.
const LONGEST: u64 = 100 * 366 * 24 * 3600 * 1000;
/// The attempts that a meta does not mention. Part of the format: it stays whatever the default policy becomes.
pub(super) const META_ATTEMPTS: u32 = 5;
/// The retention that a meta does not mention.
pub(super) const META_KEEP: Duration = Duration::from_secs(3600);
/// The last instant that is stored: scripts write numbers of up to 13 digits exactly.
const LAST: i64 = 9_999_999_999_999;

/// A duration in whole milliseconds, rounded up so that a short one does not become none.
pub(super) fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(LONGEST).min(LONGEST)
}

/// An instant that scripts can reckon with.
pub(super) fn instant(at: Timestamp) -> i64 {
    at.as_millis().clamp(0, LAST)
}

/// What a meta says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) policy: Policy,
    pub(super) accepted: Timestamp,
    /// The letters that tell of other things than the policy, as they are: whoever writes the meta anew writes them, too.
    pub(super) carried: String,
}

impl Meta {
    fn requeued(&self) -> Option<Requeued> {
        let number = |letter: char| {
            let rest = &self.carried[self.carried.find(letter)? + 1..];
            let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse::<i64>().ok()
        };
        let small = |letter| number(letter).and_then(|number| u32::try_from(number).ok());
        let (times, attempts, at) = (small('q')?, small('e')?, Timestamp::from_millis(number('b')?));
        Some(Requeued { times, attempts, at })
    }
}

/// The meta of a task; `accepted` is left out while the entry's id tells it.
pub(super) fn meta(policy: &Policy, accepted: Option<Timestamp>, carried: &str) -> String {
    let mut meta = String::new();
    let mut add = |letter: char, number: u64| meta.extend([letter.to_string(), number.to_string()]);
    if let Some(ttl) = policy.ttl {
        add('x', millis(ttl));
    }
    if policy.max_attempts != META_ATTEMPTS {
        add('n', policy.max_attempts.into());
    }
    if !policy.dead_letter {
        add('d', 0);
    }
    if policy.retention != META_KEEP {
        add('k', millis(policy.retention));
    }
    if let Some(timeout) = policy.timeout {
        add('t', millis(timeout));
    }
    if let Some(accepted) = accepted {
        add('a', instant(accepted).unsigned_abs());
    }
    meta + carried
}

/// Reads a meta; `entry` is the id of the entry that it stood in.
pub(super) fn read_meta(meta: &str, entry: &str) -> Option<Meta> {
    let mut policy =
        Policy { max_attempts: META_ATTEMPTS, timeout: None, retention: META_KEEP, dead_letter: true, ttl: None };
    let mut accepted = None;
    let mut carried = String::new();
    let mut rest = meta;
    while let Some(letter) = rest.chars().next() {
        let digits = rest.get(letter.len_utf8()..)?;
        let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
        let number: u64 = digits[..end].parse().ok()?;
        match letter {
            'x' => policy.ttl = Some(Duration::from_millis(number)),
            'n' => policy.max_attempts = u32::try_from(number).ok()?,
            'd' => policy.dead_letter = number != 0,
            'k' => policy.retention = Duration::from_millis(number),
            't' => policy.timeout = Some(Duration::from_millis(number)),
            'a' => accepted = Some(Timestamp::from_millis(i64::try_from(number).ok()?)),
            // Of the task's earlier lives, or of a newer version.
            _ => carried.push_str(&rest[..letter.len_utf8() + end]),
        }
        rest = &digits[end..];
    }
    let accepted = match accepted {
        Some(accepted) => accepted,
        None => entry_time(entry)?,
    };
    Some(Meta { policy, accepted, carried })
}

/// When an entry was written.
pub(super) fn entry_time(id: &str) -> Option<Timestamp> {
    id.split('-').next()?.parse().ok().map(Timestamp::from_millis)
}

/// The envelope as sections, to follow a header.
pub(super) fn tail(task: &str, meta: &str, payload: &[u8]) -> Vec<u8> {
    let mut out = format!("\nt{}:{task}m{}:{meta}p{}:", task.len(), meta.len(), payload.len()).into_bytes();
    out.extend_from_slice(payload);
    out
}

/// What a script needs for a line of the history: it adds the number and the end.
pub(super) fn failed(started: Timestamp, failure: &Failure) -> String {
    format!("{} {} {}", started.as_millis(), failure.kind.as_str(), escape(&failure.message))
}

/// Text without line breaks, from which [`unescape`] makes the original.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// The reverse of [`escape`].
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        out.push(match char {
            '\\' if chars.next() == Some('n') => '\n',
            char => char,
        });
    }
    out
}

/// Reads a line of the history.
pub(super) fn read_line(line: &str) -> Option<Attempt> {
    let mut fields = line.splitn(5, ' ');
    let mut next = || fields.next();
    Some(Attempt {
        number: next()?.parse().ok()?,
        started_at: Timestamp::from_millis(next()?.parse().ok()?),
        ended_at: Timestamp::from_millis(next()?.parse().ok()?),
        failure: Failure { kind: ErrorKind::from_name(next()?), message: unescape(next()?) },
    })
}

/// A record taken apart.
#[derive(Debug)]
struct Parts {
    letter: char,
    attempt: u32,
    priority: Priority,
    place: String,
    task: Option<Bytes>,
    meta: Option<Bytes>,
    payload: Option<Bytes>,
    history: Option<Bytes>,
    idempotency: Option<Bytes>,
    unique: Option<Bytes>,
    asked_to_stop: bool,
    discarded: Option<Bytes>,
}

impl Parts {
    fn read(raw: &Bytes) -> Option<Self> {
        let end = raw.iter().position(|&byte| byte == b'\n').unwrap_or(raw.len());
        let header = std::str::from_utf8(&raw[..end]).ok()?;
        let mut words = header.split(' ');
        let first = words.next()?;
        let letter = first.chars().next()?;
        let mut parts = Self {
            letter,
            attempt: first.get(1..)?.parse().ok()?,
            priority: Priority::new(words.next()?.parse().ok()?).ok()?,
            place: words.next()?.to_owned(),
            task: None,
            meta: None,
            payload: None,
            history: None,
            idempotency: None,
            unique: None,
            asked_to_stop: false,
            discarded: None,
        };
        parts.read_sections(raw, end + 1)?;
        Some(parts)
    }

    fn read_sections(&mut self, raw: &Bytes, mut at: usize) -> Option<()> {
        while at < raw.len() {
            let colon = at + raw[at..].iter().position(|&byte| byte == b':')?;
            let length: usize = std::str::from_utf8(raw.get(at + 1..colon)?).ok()?.parse().ok()?;
            let end = colon.checked_add(1)?.checked_add(length)?;
            raw.get(colon + 1..end)?;
            let body = raw.slice(colon + 1..end);
            match raw[at] {
                b't' => self.task = Some(body),
                b'm' => self.meta = Some(body),
                b'p' => self.payload = Some(body),
                b'h' => self.history = Some(body),
                b'i' => self.idempotency = Some(body),
                b'u' => self.unique = Some(body),
                b'w' => self.asked_to_stop = true,
                b'o' => self.discarded = Some(body),
                // Of a newer version.
                _ => {}
            }
            at = end;
        }
        Some(())
    }

    fn status(&self, running: bool) -> Option<Status> {
        Some(match self.letter {
            'Q' if running => Status::Running,
            'Q' => Status::Queued,
            'P' => Status::Pending,
            'R' => Status::Retrying,
            letter => finished(letter)?,
        })
    }

    fn attempts(&self) -> Option<Vec<Attempt>> {
        let Some(history) = &self.history else { return Some(Vec::new()) };
        std::str::from_utf8(history).ok()?.split('\n').map(read_line).collect()
    }
}

/// The terminal status of a letter.
pub(super) fn finished(letter: char) -> Option<Status> {
    Some(match letter {
        'S' => Status::Succeeded,
        'F' => Status::Failed,
        'D' => Status::DeadLettered,
        'C' => Status::Cancelled,
        'X' => Status::Expired,
        _ => return None,
    })
}

/// The letter of a status in scripts: that of the header, or B for a running one.
pub(super) const fn letter(status: Status) -> char {
    match status {
        Status::Pending => 'P',
        Status::Queued => 'Q',
        Status::Running => 'B',
        Status::Retrying => 'R',
        Status::Succeeded => 'S',
        Status::Failed => 'F',
        Status::DeadLettered => 'D',
        Status::Cancelled => 'C',
        Status::Expired => 'X',
    }
}

/// The envelope of a queued or running task, from its stream entry.
pub(super) struct Envelope {
    pub(super) task: Option<Bytes>,
    pub(super) meta: Option<Bytes>,
    pub(super) payload: Option<Bytes>,
}

/// The key in a section of what a task holds: behind a space, and behind `mark` when that is not empty.
fn held_key(section: Option<&Bytes>, mark: &str) -> Option<Option<String>> {
    let Some(section) = section else { return Some(None) };
    let (_, name) = std::str::from_utf8(section).ok()?.split_once(' ')?;
    let key = if mark.is_empty() { name } else { name.split_once(mark)?.1 };
    Some(Some(key.to_owned()))
}

/// Puts a record together from its string, its stream entry and its result.
pub(super) fn read(id: &TaskId, raw: &Bytes, running: bool, entry: Envelope, result: Option<Bytes>) -> Option<Record> {
    let parts = Parts::read(raw)?;
    let status = parts.status(running)?;
    let attempts = parts.attempts()?;
    let meta = parts.meta.or(entry.meta)?;
    let meta = read_meta(std::str::from_utf8(&meta).ok()?, &parts.place)?;
    let requeued = meta.requeued();
    let instant = || parts.place.parse().ok().map(Timestamp::from_millis);
    Some(Record {
        id: id.clone(),
        task: String::from_utf8(parts.task.or(entry.task)?.to_vec()).ok()?,
        status,
        attempt: parts.attempt,
        priority: parts.priority,
        policy: meta.policy,
        payload: parts.payload.or(entry.payload)?,
        result,
        enqueued_at: meta.accepted,
        due_at: if matches!(status, Status::Pending | Status::Retrying) { instant() } else { None },
        finished_at: if status.is_terminal() { instant() } else { None },
        attempts,
        cancel_requested: status == Status::Running && parts.asked_to_stop,
        idempotency_key: held_key(parts.idempotency.as_ref(), "")?,
        unique_key: held_key(parts.unique.as_ref(), "/")?,
        progress: None,
        log: Vec::new(),
        checkpoint: None,
        requeued,
        discarded_at: match parts.discarded {
            Some(at) => Some(Timestamp::from_millis(std::str::from_utf8(&at).ok()?.parse().ok()?)),
            None => None,
        },
    })
}

/// A task of a listing, from what `brief` of `lua/looking.lua` left of its record; and how long a finished one is kept.
pub(super) fn summary(id: &TaskId, raw: &Bytes, running: bool) -> Option<(TaskSummary, Duration)> {
    let entry = Envelope { task: None, meta: None, payload: Some(Bytes::new()) };
    let record = read(id, raw, running, entry, None)?;
    Some((TaskSummary::from(&record), record.policy.retention))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::QueueName;

    fn empty() -> Envelope {
        Envelope { task: None, meta: None, payload: None }
    }

    #[test]
    fn meta_survives() {
        let policy = Policy {
            max_attempts: 7,
            timeout: Some(Duration::from_millis(1500)),
            retention: Duration::ZERO,
            dead_letter: false,
            ttl: Some(Duration::from_secs(9)),
        };
        let at = Timestamp::from_millis(1_796_025_140_123);
        let read = |policy, carried: &str| Some(Meta { policy, accepted: at, carried: carried.to_owned() });
        assert_eq!(read_meta(&meta(&policy, Some(at), ""), "0-0"), read(policy.clone(), ""));
        assert_eq!(meta(&policy, None, ""), "x9000n7d0k0t1500");
        assert_eq!(meta(&Policy::DEFAULT, None, ""), "");
        assert_eq!(read_meta("", "1796025140123-4"), read(Policy::DEFAULT, ""));
        let later = meta(&policy, Some(at), "q2e7b1796025140999z9");
        let again = read_meta(&later, "0-0").unwrap();
        assert_eq!(again, read(policy.clone(), "q2e7b1796025140999z9").unwrap());
        let lives = Requeued { times: 2, attempts: 7, at: Timestamp::from_millis(1_796_025_140_999) };
        assert_eq!(again.requeued(), Some(lives));
        for nonsense in ["nonsense", "5", "n", "é1é"] {
            assert_eq!(read_meta(nonsense, "1-0"), None, "{nonsense}");
        }
    }

    #[test]
    fn durations_round_up_and_end_at_a_century() {
        assert_eq!(millis(Duration::ZERO), 0);
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::MAX), LONGEST);
    }

    #[test]
    fn any_message_survives_its_line() {
        for message in ["", "plain words", "a\nb\\n\\\\\r\t\0 é \u{1F600}\n", "\\"] {
            let failure = Failure { kind: ErrorKind::Panic, message: message.to_owned() };
            let text = failed(Timestamp::from_millis(5), &failure);
            assert!(!text.contains('\n'));
            let attempt = read_line(&format!("3 5 9{}", text.strip_prefix('5').unwrap())).unwrap();
            assert_eq!((attempt.number, attempt.failure), (3, failure));
        }
    }

    #[test]
    fn a_finished_record_reads_back() {
        let id = TaskId::generate(QueueName::default());
        let payload = b"h5:\n\0p9:{}";
        let mut raw = b"D2 9 1796025140999 1796025140123-0".to_vec();
        raw.extend(tail("a::b", "k0a1796025140000", payload));
        let history = "1 10 20 error it\\nbroke ok";
        raw.extend(format!("h{}:{history}", history.len()).bytes());
        let record = read(&id, &raw.into(), false, empty(), None).unwrap();
        assert_eq!((record.status, record.attempt, record.priority.level()), (Status::DeadLettered, 2, 9));
        assert_eq!(record.payload.as_ref(), payload);
        assert_eq!(record.finished_at, Some(Timestamp::from_millis(1_796_025_140_999)));
        assert_eq!(record.last_failure().unwrap().message, "it\nbroke ok");
    }

    #[test]
    fn broken_records_are_refused() {
        let id = TaskId::generate(QueueName::default());
        for raw in ["", "Q", "Q1 5", "Q1 17 1-0", "Z1 5 1-0", "S1 5 9 1-0\nt999:x", "S1 5 9 1-0\nt", "P1 5 7 0"] {
            assert!(read(&id, &Bytes::from(raw), false, empty(), None).is_none(), "{raw:?}");
        }
    }
}
