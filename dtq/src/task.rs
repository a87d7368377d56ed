//! A task as a type: what `#[dtq::task]` implements.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

use crate::arguments::{Fields, Payload};
use crate::context::Context;
use crate::policy::Ended;
use crate::registry::StateType;
use crate::timetable::{Timetable, TimetableError};
use crate::types::{Backoff, Idempotency, Missed, Overlap, Policy, QueueName, Unique};

/// A task. `#[dtq::task]` implements it for a struct that has the function's name and its payload arguments as
/// fields, so the type is also the value of one call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "not a task",
    note = "write `#[dtq::task]` above the function"
)]
pub trait Task: Sized + 'static {
    /// The result type.
    type Output: Send + 'static;

    /// Name, options and place of definition.
    const DEF: TaskDef;

    /// The shared state that the handler takes.
    const STATE: &'static [StateType] = &[];

    /// The idempotency key of this call, as the option `idempotency_key` makes it of the arguments.
    fn idempotency(&self) -> Option<Idempotency> {
        None
    }

    /// The unique key of this call, as the option `unique` makes it of the arguments.
    fn unique(&self) -> Option<Unique> {
        None
    }

    /// Writes the arguments, each by its name.
    ///
    /// # Errors
    /// What an argument's type says, or what JSON cannot hold.
    fn write(&self, to: &mut Fields) -> Result<(), serde_json::Error>;

    /// Reads the arguments.
    ///
    /// # Errors
    /// When one is missing, given twice, or of another type.
    fn read(from: &mut Payload<'_>) -> Result<Self, serde_json::Error>;

    /// Runs one attempt. That of a plain function ([`TaskDef::blocking`]) never waits: it is polled once, on a thread for
    /// blocking work.
    fn handler(ctx: Context, args: Self) -> impl Future<Output = Ended> + Send;

    /// The arguments as they are stored: a JSON object by argument name.
    ///
    /// # Errors
    /// What an argument's type says, or what JSON cannot hold.
    fn to_payload(&self) -> Result<Bytes, String> {
        let mut fields = Fields::new();
        self.write(&mut fields).map_err(|error| error.to_string())?;
        Ok(fields.into_payload())
    }

    /// Writes the arguments as they are stored, behind what `to` has.
    ///
    /// # Errors
    /// What an argument's type says, or what JSON cannot hold.
    #[doc(hidden)]
    fn append_payload(&self, to: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut fields = Fields::behind(to);
        self.write(&mut fields).map_err(|error| error.to_string())?;
        Ok(fields.end())
    }

    /// The arguments out of what is stored.
    ///
    /// # Errors
    /// When it is no JSON object, or one of its fields does not fit; the error names the argument.
    fn from_payload(payload: &[u8]) -> Result<Self, String> {
        let mut in_order = Payload::in_order(payload);
        if let Ok(task) = Self::read(&mut in_order)
            && in_order.is_over()
        {
            return Ok(task);
        }
        // What another program wrote may stand in any order; and what does not fit is told of from here.
        let read = Payload::parse(payload).and_then(|mut payload| Self::read(&mut payload));
        read.map_err(|error| error.to_string())
    }
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
    /// The template of its idempotency key.
    pub idempotency_key: Option<&'static str>,
    /// The template of its unique key.
    pub unique: Option<&'static str>,
    /// The names of the payload arguments.
    pub arguments: &'static [&'static str],
    /// Other names under which a payload may hold arguments: those they had before.
    pub argument_aliases: &'static [&'static str],
    /// Other names under which it may be stored: those it had before.
    pub aliases: &'static [&'static str],
    /// The schedule that its workers declare.
    pub schedule: Option<ScheduleDef>,
    /// True for a plain function, which runs on the pool for blocking work.
    pub blocking: bool,
    /// The module of its definition.
    pub module: &'static str,
    /// The file of its definition.
    pub file: &'static str,
    /// The line of its definition.
    pub line: u32,
}

/// The schedule that stands in a task's options. Its name is the task's, its queue the task's, its payload empty.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleDef {
    /// When it fires.
    pub timing: TimingDef,
    /// What becomes of missed ticks.
    pub missed: Missed,
    /// What becomes of ticks that come too soon.
    pub overlap: Overlap,
}

/// When a schedule of a task's options fires. Checked when a worker starts; the macros check it before.
#[derive(Debug, Clone, Copy)]
pub enum TimingDef {
    /// `cron = ".."`, with `tz = ".."` or UTC.
    Cron {
        /// Five fields.
        expression: &'static str,
        /// A name of the IANA database.
        zone: &'static str,
    },
    /// `every = ".."`.
    Every(Duration),
}

impl ScheduleDef {
    /// The timetable that it means.
    ///
    /// # Errors
    /// When it is none that could be used.
    pub fn timetable(&self) -> Result<Timetable, TimetableError> {
        match self.timing {
            TimingDef::Cron { expression, zone } => Timetable::cron(expression, zone),
            TimingDef::Every(interval) => Timetable::every(interval),
        }
    }
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
            idempotency_key: None,
            unique: None,
            arguments: &[],
            argument_aliases: &[],
            aliases: &[],
            schedule: None,
            blocking: false,
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

    /// Sets [`TaskDef::idempotency_key`].
    pub const fn idempotency_key(mut self, template: &'static str) -> Self {
        self.idempotency_key = Some(template);
        self
    }

    /// Sets [`TaskDef::unique`].
    pub const fn unique(mut self, template: &'static str) -> Self {
        self.unique = Some(template);
        self
    }

    /// Sets [`TaskDef::arguments`].
    pub const fn arguments(mut self, names: &'static [&'static str]) -> Self {
        self.arguments = names;
        self
    }

    /// Sets [`TaskDef::argument_aliases`].
    pub const fn argument_aliases(mut self, names: &'static [&'static str]) -> Self {
        self.argument_aliases = names;
        self
    }

    /// Sets [`TaskDef::blocking`].
    pub const fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Sets [`TaskDef::aliases`].
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// Sets [`TaskDef::schedule`].
    pub const fn schedule(mut self, schedule: ScheduleDef) -> Self {
        self.schedule = Some(schedule);
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
