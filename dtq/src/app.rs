//! What a program's set-up gives its worker.

use crate::registry::{Registration, Registry, RegistryError};
use crate::shared_state::States;
use crate::subscriber::{Subscriber, SubscriberDef, SubscriberRegistration, Subscribers};
use crate::task::Task;
use crate::types::Form;

/// Shared state and explicitly registered tasks and subscribers: the argument of a `#[dtq::main]` function.
#[derive(Debug, Default)]
pub struct App {
    states: States,
    explicit: Vec<Registration>,
    subscribers: Vec<SubscriberRegistration>,
    only_explicit: bool,
}

impl App {
    /// An app with nothing in it; linked tasks are found without being named here.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a value to all handlers that take `#[state]` of its type. A second value of one type replaces the first.
    pub fn state<T: Send + Sync + 'static>(&mut self, value: T) -> &mut Self {
        self.states.put(value);
        self
    }

    /// Registers a task by hand, where link-time registration does not work. A task that is found anyway is taken once.
    pub fn register<T: Task>(&mut self) -> &mut Self {
        self.explicit.push(Registration::of::<T>());
        self
    }

    /// Registers a subscriber by hand, where link-time registration does not work. One that is found anyway is taken once.
    pub fn subscribe<S: Subscriber>(&mut self) -> &mut Self {
        self.subscribers.push(SubscriberRegistration::of::<S>());
        self
    }

    /// Has a subscriber read its messages from elsewhere than where it says; may be called for several places.
    ///
    /// What the compiler checks of a form that stands in the attribute is checked at the worker's start here.
    pub fn subscribe_from<S: Subscriber>(&mut self, form: Form) -> &mut Self {
        self.subscribe_with::<S>(|def| def.form(form))
    }

    /// Registers a subscriber with other options than it says, for those that are known at run time only; may be called
    /// several times, once for each place that is read.
    pub fn subscribe_with<S: Subscriber>(&mut self, options: impl FnOnce(SubscriberDef) -> SubscriberDef) -> &mut Self {
        let one = SubscriberRegistration::of::<S>();
        self.subscribers.push(SubscriberRegistration { def: options(one.def), ..one });
        self
    }

    /// Takes no task or subscriber but those that are registered by hand: what the linker gathered is left aside.
    pub fn only_registered(&mut self) -> &mut Self {
        self.only_explicit = true;
        self
    }

    /// The tasks of this program.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn registry(&self) -> Result<Registry, RegistryError> {
        let explicit = self.explicit.iter().copied();
        let tasks = if self.only_explicit { Registry::of(explicit) } else { Registry::gather(explicit) };
        match tasks {
            Err(RegistryError::Empty) if !self.subscribers().is_empty() => Ok(Registry::empty()),
            tasks => tasks,
        }
    }

    /// The state that was given so far.
    #[cfg(feature = "sqlite")]
    pub(crate) fn states(&self) -> States {
        self.states.clone()
    }

    pub(crate) fn subscribers(&self) -> Subscribers {
        let explicit = self.subscribers.clone();
        if self.only_explicit { Subscribers::of(explicit) } else { Subscribers::gather(explicit) }
    }

    pub(crate) fn checked(self) -> Result<(Registry, Subscribers, States), RegistryError> {
        let (registry, subscribers) = (self.registry()?, self.subscribers());
        registry.check_state(&self.states)?;
        subscribers.check(&self.states)?;
        Ok((registry, subscribers, self.states))
    }
}
