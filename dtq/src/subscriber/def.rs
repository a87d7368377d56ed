//! A subscriber as a type, and its options.

use std::any::TypeId;
use std::time::Duration;

use super::message::MessageCall;
use crate::registry::{HandlerFuture, StateType};
use crate::types::{Backoff, DelayedRetry, Form};

/// A handler of messages. `#[dtq::subscriber]` implements it for a type that has the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscriber",
    label = "not a subscriber",
    note = "write `#[dtq::subscriber(..)]` above the function"
)]
pub trait Subscriber: 'static {
    /// Where its messages come from, and its options.
    const DEF: SubscriberDef;

    /// The shared state that the handler takes.
    const STATE: &'static [StateType] = &[];

    /// Handles one message.
    fn run(call: MessageCall) -> HandlerFuture;
}

/// What is known of a subscriber at compile time.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SubscriberDef {
    /// Its name in logs.
    pub name: &'static str,
    /// Where its messages come from.
    pub form: Form,
    /// Attempts before a message is given up; `None`: it is tried until it succeeds or is dropped.
    pub max_attempts: Option<u32>,
    /// Longest run of one attempt.
    pub timeout: Option<Duration>,
    /// The wait after an error, a panic or a timeout. A claiming subscription waits until the entry is idle, instead.
    pub backoff: Backoff,
    /// Where messages go that are given up: a stream, a list or a channel, as the form is. Without it they are dropped.
    pub dead_letter: Option<&'static str>,
    /// How a delayed retry waits.
    pub delayed_retry: DelayedRetry,
    /// Messages that agree in this are handled one after the other, in the order in which they were read.
    pub ordered_by: Option<&'static str>,
    /// Messages of this subscriber that one worker holds at most; the worker's own bound, unless set.
    pub concurrency: Option<u32>,
    /// Whether its return type can ask for what needs an acknowledgement.
    pub asks: bool,
    /// The module of its definition.
    pub module: &'static str,
    /// The file of its definition.
    pub file: &'static str,
    /// The line of its definition.
    pub line: u32,
}

/// Options as `#[dtq::subscriber(..)]` sets them.
impl SubscriberDef {
    /// A subscriber with every option at its default.
    pub const fn new(name: &'static str, form: Form) -> Self {
        Self {
            name,
            form,
            max_attempts: None,
            timeout: None,
            backoff: Backoff::DEFAULT,
            dead_letter: None,
            delayed_retry: DelayedRetry::of(&form),
            ordered_by: None,
            concurrency: None,
            asks: false,
            module: "",
            file: "",
            line: 0,
        }
    }

    /// Sets [`SubscriberDef::form`].
    pub const fn form(mut self, form: Form) -> Self {
        // A way that the new form does not have would lose what it is to keep.
        if matches!(self.form, Form::PubSub(_)) != matches!(form, Form::PubSub(_)) {
            self.delayed_retry = DelayedRetry::of(&form);
        }
        self.form = form;
        self
    }

    /// Sets [`SubscriberDef::max_attempts`].
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = Some(max_attempts);
        self
    }

    /// Sets [`SubscriberDef::timeout`].
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets [`SubscriberDef::backoff`].
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets [`SubscriberDef::dead_letter`].
    pub const fn dead_letter(mut self, destination: &'static str) -> Self {
        self.dead_letter = Some(destination);
        self
    }

    /// Sets [`SubscriberDef::delayed_retry`].
    pub const fn delayed_retry(mut self, way: DelayedRetry) -> Self {
        self.delayed_retry = way;
        self
    }

    /// Sets [`SubscriberDef::ordered_by`].
    pub const fn ordered_by(mut self, template: &'static str) -> Self {
        self.ordered_by = Some(template);
        self
    }

    /// Sets [`SubscriberDef::concurrency`].
    pub const fn concurrency(mut self, messages: u32) -> Self {
        self.concurrency = Some(messages);
        self
    }

    /// Sets [`SubscriberDef::asks`].
    pub const fn asks(mut self, asks: bool) -> Self {
        self.asks = asks;
        self
    }

    /// Sets the place of definition.
    pub const fn declared_at(mut self, module: &'static str, file: &'static str, line: u32) -> Self {
        self.module = module;
        self.file = file;
        self.line = line;
        self
    }
}

/// One subscriber, as the linker gathers it or an app registers it.
#[derive(Debug, Clone, Copy)]
pub struct SubscriberRegistration {
    /// Its options.
    pub(crate) def: SubscriberDef,
    /// The state it asks for.
    pub(crate) state: &'static [StateType],
    /// Its entry point.
    pub(crate) handler: fn(MessageCall) -> HandlerFuture,
    /// The type that it is.
    pub(crate) identity: fn() -> TypeId,
}

impl SubscriberRegistration {
    /// The registration of a subscriber.
    pub const fn of<S: Subscriber>() -> Self {
        Self { def: S::DEF, state: S::STATE, handler: S::run, identity: TypeId::of::<S> }
    }
}
