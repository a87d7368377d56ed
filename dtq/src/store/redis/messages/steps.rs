//! The commands that settle a message, in the order of the contract.

use bytes::Bytes;
use redis::Value;

use super::super::link::Link;
use super::scripts::SCRIPTS;
use crate::failpoint;
use crate::store::Result;
use crate::store::messages::Settling;

const OPERATION: &str = "settle message";

/// One command. Its first key may be followed by another one that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    key: String,
    words: Vec<Bytes>,
}

impl Step {
    /// A command whose first argument is its key.
    pub(super) fn new(command: &'static str, key: &str, arguments: impl IntoIterator<Item = Bytes>) -> Self {
        let head = [Bytes::from_static(command.as_bytes()), Bytes::from(key.to_owned())];
        Self { key: key.to_owned(), words: head.into_iter().chain(arguments).collect() }
    }

    /// `XADD` of these names and values.
    pub(super) fn append(stream: &str, entry: Vec<Bytes>) -> Self {
        Self::new("XADD", stream, std::iter::once(Bytes::from_static(b"*")).chain(entry))
    }

    /// `LPUSH` of one value.
    pub(super) fn push(list: &str, value: Bytes) -> Self {
        Self::new("LPUSH", list, [value])
    }

    /// Puts a copy aside for a while, by the server's clock.
    pub(super) fn delay(set: &str, member: Bytes, millis: u128, ttl: Option<u128>) -> Self {
        let numbers = [millis, ttl.unwrap_or(0)].map(|number| Bytes::from(number.to_string()));
        Self::new("DELAY", set, std::iter::once(member).chain(numbers))
    }

    /// True for what only a script can do.
    fn needs_script(&self) -> bool {
        self.words[0] == b"DELAY"[..]
    }

    /// True for what a script cannot pass on: the servers' Lua takes less than 8,000 arguments in a call.
    fn is_too_long(&self) -> bool {
        const MOST: usize = 7000;
        self.words.len() > MOST
    }

    fn command(&self) -> redis::Cmd {
        let mut command = redis::Cmd::new();
        self.words.iter().for_each(|word| {
            command.arg(word.as_ref());
        });
        command
    }
}

/// How a message is seen to be the caller's still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fence {
    /// It cannot become another's.
    None,
    /// It is pending for this consumer.
    Pending { stream: String, group: String, id: String, consumer: String },
    /// It is on this processing list.
    Listed { processing: String, value: Bytes },
}

impl Fence {
    fn key(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Pending { stream, .. } => Some(stream),
            Self::Listed { processing, .. } => Some(processing),
        }
    }

    fn words(&self) -> Vec<Bytes> {
        let word = |text: &str| Bytes::from(text.to_owned());
        match self {
            Self::None => vec![Bytes::new()],
            Self::Pending { group, id, consumer, .. } => vec![word("pending"), word(group), word(id), word(consumer)],
            Self::Listed { value, .. } => vec![word("listed"), value.clone()],
        }
    }
}

/// Runs the steps. Behind a fence they are one step of the server; without one they are commands of their own, and each is
/// answered before the next one goes out.
/// `taken` says how many of these the server has taken before, and after an error how many it has by now.
pub(super) async fn run(link: &Link, fence: &Fence, steps: &[Step], taken: &mut usize) -> Result<Settling> {
    failpoint::reach("message", "before");
    match (fence, steps) {
        (_, []) => Ok(Settling::Done),
        (Fence::None, steps) => in_turn(link, steps, taken).await,
        // Looked at first, and then sent: better a duplicate, should it be lost in between, than no settlement at all.
        (fence, steps) if steps.iter().any(Step::is_too_long) => match fenced(link, fence, &[]).await? {
            Settling::Lost => Ok(Settling::Lost),
            Settling::Done => in_turn(link, steps, taken).await,
        },
        (fence, steps) => fenced(link, fence, steps).await,
    }
}

async fn in_turn(link: &Link, steps: &[Step], taken: &mut usize) -> Result<Settling> {
    for (n, step) in steps.iter().enumerate().skip(*taken) {
        if n > 0 {
            failpoint::reach("message", "between");
        }
        alone(link, step).await?;
        *taken = n + 1;
    }
    Ok(Settling::Done)
}

async fn alone(link: &Link, step: &Step) -> Result<()> {
    if step.needs_script() {
        fenced(link, &Fence::None, std::slice::from_ref(step)).await?;
        return Ok(());
    }
    link.run(OPERATION, &step.command()).await.map(drop)
}

async fn fenced(link: &Link, fence: &Fence, steps: &[Step]) -> Result<Settling> {
    let keys: Vec<&str> = fence.key().into_iter().chain(steps.iter().map(|step| step.key.as_str())).collect();
    let script = &SCRIPTS.steps;
    let mut call = script.call_on(&keys);
    fence.words().iter().for_each(|word| {
        call.arg(word.as_ref());
    });
    for step in steps {
        call.arg(step.words.len());
        step.words.iter().for_each(|word| {
            call.arg(word.as_ref());
        });
    }
    match link.eval(OPERATION, script, &call).await? {
        Value::Int(0) => Ok(Settling::Lost),
        _ => Ok(Settling::Done),
    }
}
