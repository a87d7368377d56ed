//! A task as a type: what `#[dtq::task]` implements.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::registry::{ExecutionCall, HandlerFuture, StateType};
use crate::types::{Backoff, Policy, QueueName};

/// A task. `#[dtq::task]` implements it for a struct that has the function's name and its payload arguments as
/// fields, so the type is also the value of one call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "not a task",
    note = "write `#[dtq::task]` above the function"
)]
pub trait Task: Serialize + DeserializeOwned + 'static {
    /// The result type.
    type Output: Send + 'static;

    /// Name, options and place of definition.
    const DEF: TaskDef;

    /// The shared state that the handler takes.
    const STATE: &'static [StateType] = &[];

    /// Runs one attempt.
    fn run(call: ExecutionCall) -> HandlerFuture;
}

/// What is known of a task at compile time.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TaskDef {
    /// The name under which it is stored.
    pub name: &'static str,
    /// The queue its calls go to.
    pub queue: &'static str,
    /// 0 to 9.
    pub priority: u8,
    /// Executions before it fails for good.
    pub max_attempts: u32,
    /// Longest run of one attempt.
    pub timeout: Option<Duration>,
    /// How long the record and the result of a finished call are kept.
    pub retention: Duration,
    /// Longest time until the first start.
    pub ttl: Option<Duration>,
    /// Whether a call that failed for good is kept among the dead letters.
    pub dead_letter: bool,
    /// How many calls run at once at most in its queue, on all workers together.
    pub concurrency: Option<u32>,
    /// The wait between attempts.
    pub backoff: Backoff,
    /// The names of the payload arguments.
    pub arguments: &'static [&'static str],
    /// Other names under which it may be stored: those it had before.
    pub aliases: &'static [&'static str],
    /// The module of its definition.
    pub module: &'static str,
    /// The file of its definition.
    pub file: &'static str,
    /// The line of its definition.
    pub line: u32,
}

/// Options as `#[dtq::task(..)]` sets them.
impl TaskDef {
    /// A task of this name with every option at its default.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            queue: QueueName::DEFAULT,
            priority: 5,
            max_attempts: Policy::DEFAULT.max_attempts,
            timeout: None,
            retention: Policy::DEFAULT.retention,
            ttl: None,
            dead_letter: Policy::DEFAULT.dead_letter,
            concurrency: None,
            backoff: Backoff::DEFAULT,
            arguments: &[],
            aliases: &[],
            module: "",
            file: "",
            line: 0,
        }
    }

    /// Sets [`TaskDef::queue`].
    pub const fn queue(mut self, queue: &'static str) -> Self {
        self.queue = queue;
        self
    }

    /// Sets [`TaskDef::priority`].
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Sets [`TaskDef::max_attempts`].
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// Sets [`TaskDef::timeout`].
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets [`TaskDef::retention`].
    pub const fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Sets [`TaskDef::ttl`].
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets [`TaskDef::dead_letter`].
    pub const fn dead_letter(mut self, dead_letter: bool) -> Self {
        self.dead_letter = dead_letter;
        self
    }

    /// Sets [`TaskDef::concurrency`].
    pub const fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = Some(concurrency);
        self
    }

    /// Sets [`TaskDef::backoff`].
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets [`TaskDef::arguments`].
    pub const fn arguments(mut self, names: &'static [&'static str]) -> Self {
        self.arguments = names;
        self
    }

    /// Sets [`TaskDef::aliases`].
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// Sets the place of definition.
    pub const fn declared_at(mut self, module: &'static str, file: &'static str, line: u32) -> Self {
        self.module = module;
        self.file = file;
        self.line = line;
        self
    }

    /// What the store is told of a call that overrides nothing.
    pub const fn policy(&self) -> Policy {
        Policy {
            max_attempts: self.max_attempts,
            timeout: self.timeout,
            retention: self.retention,
            dead_letter: self.dead_letter,
            ttl: self.ttl,
        }
    }
}
