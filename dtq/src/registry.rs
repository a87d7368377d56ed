//! From registrations to a map by name; everything that can be wrong with it is said at start.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use crate::context::Context;
use crate::execute;
use crate::key;
use crate::linked;
use crate::payload;
use crate::policy::Ended;
use crate::shared_state::States;
use crate::subscriber::SubscriberError;
use crate::task::{Task, TaskDef};
use crate::timetable::TimetableError;
use crate::types::{
    Idempotency, NameError, Priority, PriorityError, QueueName, ScheduleId, ScheduleSpec, Unique, check_task_name,
};

pub use crate::payload::PayloadError;

/// The idempotency key and the unique key of a call.
pub type Keys = (Option<Idempotency>, Option<Unique>);

/// One attempt, ready to run.
#[derive(Debug)]
pub struct ExecutionCall {
    /// What the handler may ask about itself.
    pub ctx: Context,
    /// The encoded arguments.
    pub payload: Bytes,
}

/// A running handler.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// A type of shared state that a task asks for.
#[derive(Clone, Copy)]
pub struct StateType {
    name: fn() -> &'static str,
    id: fn() -> TypeId,
}

impl StateType {
    /// The entry for `T`.
    pub const fn of<T: Send + Sync + 'static>() -> Self {
        Self { name: std::any::type_name::<T>, id: TypeId::of::<T> }
    }

    /// The type's name.
    pub fn name(&self) -> &'static str {
        (self.name)()
    }

    pub(crate) fn id(&self) -> TypeId {
        (self.id)()
    }
}

impl fmt::Debug for StateType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One task, as the linker gathers it or an app registers it.
#[derive(Debug, Clone, Copy)]
pub struct Registration {
    /// Name, options, place.
    pub def: TaskDef,
    /// The state it asks for.
    pub state: &'static [StateType],
    /// Its entry point.
    pub handler: fn(ExecutionCall) -> HandlerFuture,
    /// Decodes a payload as an attempt would, and says what does not fit.
    pub decodes: fn(&[u8]) -> Result<(), String>,
    /// The keys of a call with this payload, as the task's options make them.
    pub keys: fn(&[u8]) -> Result<Keys, String>,
    /// The type that the task is.
    pub identity: fn() -> TypeId,
}

impl Registration {
    /// The registration of a task.
    pub const fn of<T: Task>() -> Self {
        Self {
            def: T::DEF,
            state: T::STATE,
            // Of the two, only the one that is taken is compiled.
            handler: if T::DEF.blocking { execute::run_blocking::<T> } else { execute::run::<T> },
            decodes: decodes::<T>,
            keys: key::of_payload::<T>,
            identity: TypeId::of::<T>,
        }
    }

    /// Checks encoded arguments against the function's: their names, and the type of each.
    ///
    /// # Errors
    /// When a worker could not decode them, or when they hold what the function does not take.
    pub fn check_payload(&self, payload: &[u8]) -> Result<(), PayloadError> {
        payload::check(self, payload)
    }

    /// What its arguments could look like, for people.
    #[cfg(feature = "cli")]
    pub(crate) fn example(&self) -> String {
        payload::example(self.def.arguments)
    }
}

/// Why a worker cannot start with the tasks it has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing is registered.
    #[error(
        "no task is registered: write #[dtq::task] above a function of a crate that this program uses, or register it \
         with App::register (a library crate that nothing refers to is not linked: `use` something of it)"
    )]
    Empty,
    /// Two tasks of one name.
    #[error(
        "two tasks are named {name:?}: one at {first}, one at {second}; give one of them #[dtq::task(name = \"..\")]"
    )]
    Duplicate {
        /// The name.
        name: &'static str,
        /// Where one stands.
        first: String,
        /// Where the other one stands.
        second: String,
    },
    /// A task asks for state that nobody gave.
    #[error("task {task:?} takes #[state] of type {state}, but none was given: call app.state(..) with one in set-up")]
    MissingState {
        /// The task.
        task: &'static str,
        /// The type's name.
        state: &'static str,
    },
    /// A subscriber is not in order.
    #[error(transparent)]
    Subscriber(#[from] SubscriberError),
    /// A name that no store takes.
    #[error("the task at {place}: {source}")]
    Name {
        /// Where it stands.
        place: String,
        /// The rule it breaks.
        source: NameError,
    },
    /// A schedule that could never fire as it is written.
    #[error("the task at {place}: {source}")]
    Schedule {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        source: TimetableError,
    },
    /// A priority that does not exist.
    #[error("the task at {place}: {source}")]
    Priority {
        /// Where it stands.
        place: String,
        /// The rule it breaks.
        source: PriorityError,
    },
}

/// The tasks of a program by name.
#[derive(Debug, Clone)]
pub struct Registry {
    tasks: BTreeMap<&'static str, Registration>,
    /// Other names to the names in `tasks`.
    aliases: BTreeMap<&'static str, &'static str>,
}

impl Registry {
    /// Every task that was linked in, and `explicit` ones; the same task twice is taken once.
    ///
    /// # Errors
    /// See [`Registry::of`].
    pub fn gather(explicit: impl IntoIterator<Item = Registration>) -> Result<Self, RegistryError> {
        Self::of(linked::tasks().chain(explicit))
    }

    /// No task at all, for a program that only subscribes, and for tests.
    pub(crate) fn empty() -> Self {
        Self { tasks: BTreeMap::new(), aliases: BTreeMap::new() }
    }

    /// These tasks and no others; the same task twice is taken once.
    ///
    /// # Errors
    /// When there is none, when two share a name, or when a name or an option is not usable.
    pub fn of(all: impl IntoIterator<Item = Registration>) -> Result<Self, RegistryError> {
        let mut tasks: BTreeMap<&'static str, Registration> = BTreeMap::new();
        for registration in all {
            check(&registration.def)?;
            let name = registration.def.name;
            if let Some(earlier) = tasks.insert(name, registration)
                && (earlier.identity)() != (registration.identity)()
            {
                return Err(RegistryError::Duplicate {
                    name,
                    first: place(&earlier.def),
                    second: place(&registration.def),
                });
            }
        }
        if tasks.is_empty() {
            return Err(RegistryError::Empty);
        }
        let aliases = aliases(&tasks)?;
        Ok(Self { tasks, aliases })
    }

    /// The task that answers to that name, be it its own or an alias.
    pub fn get(&self, name: &str) -> Option<&Registration> {
        self.tasks.get(self.aliases.get(name).copied().unwrap_or(name))
    }

    /// All tasks by name.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.tasks.values()
    }

    /// Every name that a task answers to.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.tasks.keys().chain(self.aliases.keys()).copied()
    }

    /// The names of its tasks for one log line, at most so many.
    pub(crate) fn names(&self, most: usize) -> String {
        let names: Vec<_> = self.tasks.keys().copied().take(most).collect();
        match self.tasks.len() - names.len() {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    /// The queues that the tasks name, sorted.
    pub fn queues(&self) -> Vec<QueueName> {
        let mut queues: Vec<_> = self.iter().filter_map(|task| QueueName::new(task.def.queue).ok()).collect();
        queues.sort();
        queues.dedup();
        queues
    }

    /// The schedules that the tasks' options hold, sorted by queue.
    pub(crate) fn schedules(&self) -> Vec<ScheduleSpec> {
        let mut specs: Vec<_> = self.iter().filter_map(|task| declared(&task.def)).collect();
        specs.sort_by(|a, b| a.id.cmp(&b.id));
        specs
    }

    /// Checks that every task's state was given.
    pub(crate) fn check_state(&self, states: &States) -> Result<(), RegistryError> {
        for registration in self.iter() {
            if let Some(missing) = registration.state.iter().find(|state| !states.holds(state.id())) {
                return Err(RegistryError::MissingState { task: registration.def.name, state: missing.name() });
            }
        }
        Ok(())
    }
}

/// The other names of all tasks; one name is one task's.
fn aliases(
    tasks: &BTreeMap<&'static str, Registration>,
) -> Result<BTreeMap<&'static str, &'static str>, RegistryError> {
    let mut aliases: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    for Registration { def, .. } in tasks.values() {
        for name in def.aliases.iter().copied() {
            let claimed = aliases.insert(name, def.name).unwrap_or(name);
            if let Some(other) = tasks.get(claimed) {
                return Err(RegistryError::Duplicate { name, first: place(&other.def), second: place(def) });
            }
        }
    }
    Ok(aliases)
}

fn check(def: &TaskDef) -> Result<(), RegistryError> {
    let name = |source| RegistryError::Name { place: place(def), source };
    std::iter::once(&def.name).chain(def.aliases).try_for_each(|task| check_task_name(task)).map_err(name)?;
    QueueName::new(def.queue).map_err(name)?;
    Priority::new(def.priority).map_err(|source| RegistryError::Priority { place: place(def), source })?;
    if let Some(schedule) = &def.schedule {
        schedule.timetable().map_err(|source| RegistryError::Schedule { place: place(def), source })?;
    }
    Ok(())
}

/// The schedule of a task's options. All that could be wrong with it was checked when the task was taken.
fn declared(def: &TaskDef) -> Option<ScheduleSpec> {
    let schedule = def.schedule?;
    Some(ScheduleSpec {
        id: ScheduleId::new(QueueName::new(def.queue).ok()?, def.name).ok()?,
        timing: schedule.timetable().ok()?.timing().clone(),
        missed: schedule.missed,
        overlap: schedule.overlap,
        task: def.name.to_owned(),
        // Its arguments, if there are any, all have a default.
        payload: Bytes::from_static(b"{}"),
        priority: Priority::new(def.priority).ok()?,
        policy: def.policy(),
    })
}

fn decodes<T: Task>(payload: &[u8]) -> Result<(), String> {
    T::from_payload(payload).map(drop)
}

fn place(def: &TaskDef) -> String {
    format!("{}:{} (module {})", def.file, def.line, def.module)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::task::{ScheduleDef, TimingDef};
    use crate::types::{Missed, Overlap};

    /// A task that is the type `T`.
    fn task<T: 'static>(name: &'static str, line: u32) -> Registration {
        Registration {
            def: TaskDef::new(name).declared_at("m", "f.rs", line),
            state: &[],
            handler: |_| Box::pin(async { Ended::Done(None) }),
            decodes: |_| Ok(()),
            keys: |_| Ok((None, None)),
            identity: TypeId::of::<T>,
        }
    }

    #[test]
    fn two_tasks_of_one_name_are_refused_naming_both_places() {
        let error = Registry::of([task::<u8>("a", 1), task::<u16>("a", 2)]).unwrap_err().to_string();
        assert!(error.contains("f.rs:1") && error.contains("f.rs:2"), "{error}");
    }

    #[test]
    fn the_same_task_registered_twice_is_one() {
        assert_eq!(Registry::of([task::<u8>("a", 1), task::<u8>("a", 1)]).unwrap().iter().count(), 1);
    }

    #[test]
    fn two_tasks_of_one_line_are_two() {
        let error = Registry::of([task::<u8>("a", 1), task::<u16>("a", 1)]).unwrap_err();
        assert!(matches!(error, RegistryError::Duplicate { name: "a", .. }), "{error}");
    }

    #[test]
    fn names_are_listed_in_order_and_within_bounds() {
        let registry = Registry::of([task::<u8>("b", 1), task::<u16>("a", 2), task::<u32>("c", 3)]).unwrap();
        assert_eq!(registry.names(3), "a, b, c");
        assert_eq!(registry.names(2), "a, b and 1 more");
    }

    #[test]
    fn a_task_answers_to_its_aliases_and_is_listed_once() {
        let mut renamed = task::<u8>("new", 1);
        renamed.def = renamed.def.aliases(&["old", "older"]);
        let registry = Registry::of([renamed, task::<u16>("a", 2)]).unwrap();
        for name in ["new", "old", "older"] {
            assert_eq!(registry.get(name).map(|task| task.def.name), Some("new"), "{name}");
        }
        assert!(registry.get("oldest").is_none());
        assert_eq!(registry.iter().count(), 2);
    }

    #[test]
    fn an_alias_that_another_task_has_is_refused_naming_both_places() {
        fn aliased<T: 'static>(name: &'static str, line: u32) -> Registration {
            Registration { def: task::<T>(name, line).def.aliases(&["old"]), ..task::<T>(name, line) }
        }
        for twin in [task::<u16>("old", 2), aliased::<u16>("b", 2)] {
            let error = Registry::of([aliased::<u8>("a", 1), twin]).unwrap_err().to_string();
            assert!(error.contains("\"old\"") && error.contains("f.rs:1") && error.contains("f.rs:2"), "{error}");
        }
    }

    #[test]
    fn a_schedule_that_cannot_fire_is_refused_naming_the_place() {
        let timings = [
            TimingDef::Cron { expression: "0 0 30 2 *", zone: "UTC" },
            TimingDef::Cron { expression: "0 0 * * *", zone: "Mars/Olympus" },
            TimingDef::Every(Duration::ZERO),
        ];
        for timing in timings {
            let mut scheduled = task::<u8>("a", 7);
            scheduled.def =
                scheduled.def.schedule(ScheduleDef { timing, missed: Missed::default(), overlap: Overlap::default() });
            let error = Registry::of([scheduled]).unwrap_err();
            assert!(matches!(error, RegistryError::Schedule { .. }) && error.to_string().contains("f.rs:7"), "{error}");
        }
    }

    #[test]
    fn an_empty_registry_says_what_to_do() {
        assert_eq!(Registry::of([]).unwrap_err(), RegistryError::Empty);
    }

    #[test]
    fn missing_state_names_task_and_type() {
        let mut needy = task::<u8>("a", 1);
        needy.state = const { &[StateType::of::<String>()] };
        let error = Registry::of([needy]).unwrap().check_state(&States::default()).unwrap_err();
        assert_eq!(error, RegistryError::MissingState { task: "a", state: "alloc::string::String" });
    }
}
