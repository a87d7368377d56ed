//! What a program's set-up gives its worker.

use crate::registry::{Registration, Registry, RegistryError};
use crate::shared_state::States;
use crate::task::Task;

/// Shared state and explicitly registered tasks: the argument of a `#[dtq::main]` function.
#[derive(Debug, Default)]
pub struct App {
    states: States,
    explicit: Vec<Registration>,
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

    /// Takes no task but those that are registered by hand: what the linker gathered is left aside.
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
        if self.only_explicit { Registry::of(explicit) } else { Registry::gather(explicit) }
    }

    /// The state that was given so far.
    #[cfg(feature = "sqlite")]
    pub(crate) fn states(&self) -> States {
        self.states.clone()
    }

    pub(crate) fn checked(self) -> Result<(Registry, States), RegistryError> {
        let registry = self.registry()?;
        registry.check_state(&self.states)?;
        Ok((registry, self.states))
    }
}
