//! What was enqueued, and asserting it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::time::Duration;

use super::{TestApp, shown};
use crate::store::Accepted;
use crate::suggest;
use crate::task::Task;
use crate::types::{Deferral, Delivery, NewTask, Priority, TaskId};

/// Calls that a message lists before it counts the rest.
const LISTED: usize = 10;

/// A call that was enqueued. Its arguments are its fields: `call.order`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Enqueued<T> {
    /// The task's id, with its queue.
    pub id: TaskId,
    /// The arguments.
    pub args: T,
    /// Its priority.
    pub priority: Priority,
    /// The delay it was enqueued with.
    pub delay: Option<Duration>,
}

impl<T> Deref for Enqueued<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.args
    }
}

/// Everything that was enqueued, in order.
#[derive(Debug, Default)]
pub(super) struct Sent(Vec<One>);

#[derive(Debug)]
struct One {
    id: TaskId,
    task: String,
    payload: bytes::Bytes,
    priority: Priority,
    deferral: Deferral,
}

impl Sent {
    /// A task that a client sent. One that the store had already makes no second one.
    pub(super) fn note(&mut self, task: NewTask, answer: &Accepted) {
        if !answer.created {
            return;
        }
        let NewTask { task, payload, priority, deferral, .. } = task;
        let one = One { id: answer.id.clone(), task, payload, priority, deferral };
        // It may have begun to run before its sender heard of its acceptance.
        match self.0.iter_mut().find(|known| known.id == one.id) {
            Some(known) => *known = one,
            None => self.0.push(one),
        }
    }

    /// A task that is about to run. The store itself may have made it, or its sender has not heard of it yet.
    pub(super) fn note_run(&mut self, delivery: &Delivery) {
        let Delivery { lease, task, payload, priority, .. } = delivery;
        if !self.0.iter().any(|known| known.id == lease.task) {
            let (id, task, payload, priority) = (lease.task.clone(), task.clone(), payload.clone(), *priority);
            self.0.push(One { id, task, payload, priority, deferral: Deferral::None });
        }
    }

    fn of<T: Task>(&self) -> impl Iterator<Item = &One> {
        let names = |one: &&One| one.task == T::DEF.name || T::DEF.aliases.contains(&one.task.as_str());
        self.0.iter().filter(names)
    }

    /// The calls of one task, and where they do not decode, why.
    fn decoded<T: Task>(&self) -> Vec<Result<Enqueued<T>, String>> {
        self.of::<T>().map(One::decoded).collect()
    }
}

impl One {
    fn decoded<T: Task>(&self) -> Result<Enqueued<T>, String> {
        let args = T::from_payload(&self.payload)?;
        let delay = match self.deferral {
            Deferral::After(delay) => Some(delay),
            _ => None,
        };
        Ok(Enqueued { id: self.id.clone(), args, priority: self.priority, delay })
    }

    fn described<T: Task>(&self) -> String {
        let mut line = String::from_utf8_lossy(&self.payload).into_owned();
        let mut add = |text: String| line.push_str(&text);
        if self.id.queue().as_str() != T::DEF.queue {
            add(format!(", in queue {:?}", self.id.queue().as_str()));
        }
        match self.deferral {
            Deferral::None => {}
            Deferral::After(delay) => add(format!(", delayed by {}", shown(delay))),
            Deferral::At(instant) => add(format!(", at {instant}")),
        }
        if let Err(error) = self.decoded::<T>() {
            add(format!(", which does not decode: {error}"));
        }
        line
    }
}

/// Assertions on what was enqueued since the test began, by the test or by handlers, whether it has run or not.
#[allow(clippy::panic, reason = "a test fails by it")]
impl TestApp {
    /// The calls of a task, in the order in which they were enqueued.
    ///
    /// ```
    /// # use dtq::prelude::*;
    /// # #[dtq::task]
    /// # async fn charge(order: u64) {}
    /// # async fn test(t: &TestApp) {
    /// t.scope(async { charge::enqueue(17).await }).await.unwrap();
    /// let calls = t.enqueued::<charge>();
    /// assert_eq!(calls.len(), 1);
    /// assert_eq!((calls[0].order, calls[0].delay), (17, None));
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(test(&TestApp::new()));
    /// ```
    ///
    /// # Panics
    /// When the stored arguments of one do not fit the task.
    #[track_caller]
    pub fn enqueued<T: Task>(&self) -> Vec<Enqueued<T>> {
        // Not within a closure: the panic is the caller's.
        let mut calls = Vec::new();
        for call in self.sent().decoded::<T>() {
            match call {
                Ok(call) => calls.push(call),
                Err(error) => panic!("a call of `{}` has arguments that do not fit it: {error}", T::DEF.name),
            }
        }
        calls
    }

    /// Asserts that a call was enqueued whose arguments fit a condition; gives the first such call.
    ///
    /// # Panics
    /// When there is none. The message lists what was enqueued.
    #[track_caller]
    pub fn assert_enqueued<T: Task>(&self, fits: impl Fn(&T) -> bool) -> Enqueued<T> {
        let found = self.sent().decoded::<T>().into_iter().flatten().find(|call| fits(call));
        match found {
            Some(call) => call,
            None => panic!("{}", self.not_found::<T>()),
        }
    }

    /// Asserts that no call was enqueued whose arguments fit a condition; `|_| true` means no call at all.
    ///
    /// # Panics
    /// When there is one. The message shows it.
    #[track_caller]
    pub fn assert_not_enqueued<T: Task>(&self, fits: impl Fn(&T) -> bool) {
        let unwanted: Vec<String> = {
            let sent = self.sent();
            let fits = |one: &&One| one.decoded::<T>().is_ok_and(|call| fits(&call));
            sent.of::<T>().filter(fits).map(One::described::<T>).collect()
        };
        if !unwanted.is_empty() {
            let (count, list) = (calls(unwanted.len()), listed(&unwanted));
            panic!("{count} of `{}` should not have been enqueued:\n{list}", T::DEF.name);
        }
    }

    fn not_found<T: Task>(&self) -> String {
        let (sent, name) = (self.sent(), T::DEF.name);
        let of_task: Vec<String> = sent.of::<T>().map(One::described::<T>).collect();
        let mut message = match of_task.len() {
            0 => format!("no call of `{name}` was enqueued"),
            count => {
                let list = listed(&of_task);
                format!("no enqueued call of `{name}` fits the condition; enqueued: {}\n{list}", calls(count))
            }
        };
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        let of_others = sent.0.iter().filter(|one| !sent.of::<T>().any(|mine| mine.id == one.id));
        of_others.for_each(|one| *others.entry(one.task.as_str()).or_default() += 1);
        let names: Vec<&str> = others.keys().copied().collect();
        let counted: Vec<String> = others.iter().map(|(name, count)| format!("`{name}` ({count})")).collect();
        match (of_task.len(), counted.len()) {
            (0, 0) => message.push_str(
                "\n  nothing was: a call does nothing until it is awaited, and a thread that the test did not start \
                 through its runtime enqueues elsewhere",
            ),
            (_, 0) => {}
            (0, _) => message.push_str(&format!("\n  what was: {}", counted.join(", "))),
            _ => message.push_str(&format!("\n  other tasks: {}", counted.join(", "))),
        }
        if of_task.is_empty()
            && let Some(meant) = suggest::nearest(name, &names)
        {
            message.push_str(&format!("\n  did you mean `{meant}`?"));
        }
        message
    }
}

fn calls(count: usize) -> String {
    if count == 1 { "1 call".into() } else { format!("{count} calls") }
}

fn listed(lines: &[String]) -> String {
    let mut list: Vec<String> = lines.iter().take(LISTED).map(|line| format!("  - {line}")).collect();
    if lines.len() > LISTED {
        list.push(format!("  - and {} more", lines.len() - LISTED));
    }
    list.join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::types::{Lease, QueueName, Timestamp};

    #[test]
    fn a_task_that_runs_before_its_sender_hears_of_it_is_one_call() {
        let id = TaskId::generate(QueueName::default());
        let mut task = NewTask::new(id.clone(), "early", "{}");
        task.deferral = Deferral::After(Duration::from_secs(1));
        let delivery = Delivery {
            lease: Lease { task: id.clone(), attempt: 1, token: String::new() },
            task: task.task.clone(),
            payload: task.payload.clone(),
            priority: task.priority,
            policy: task.policy.clone(),
            enqueued_at: Timestamp::default(),
            claimed_at: Timestamp::default(),
            reclaimed: false,
            resumes: false,
        };
        let mut sent = Sent::default();
        sent.note_run(&delivery);
        sent.note(task, &Accepted::new(id, true));
        assert_eq!(
            sent.0.iter().map(|one| one.deferral).collect::<Vec<_>>(),
            [Deferral::After(Duration::from_secs(1))]
        );
    }
}
