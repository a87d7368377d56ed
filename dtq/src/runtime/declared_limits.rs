//! What a worker tells its queues of its tasks: how many of each may run at once in the whole fleet.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::registry::Registry;
use crate::store::{LimitsDeclaration, Result, Store};
use crate::types::QueueName;

/// How often it is told again: a store that forgot everything learns it anew, and after a deployment in steps the version
/// that stays has the last word.
const INTERVAL: Duration = Duration::from_secs(60);

/// The same where there are limits: until a store that forgot them learns them anew, more may run than should.
const LIMITED_INTERVAL: Duration = Duration::from_secs(5);

/// How long what was declared is left alone.
fn interval(declaration: &LimitsDeclaration) -> Duration {
    match declaration.tasks.iter().any(|(_, limit)| limit.is_some()) {
        true => LIMITED_INTERVAL,
        false => INTERVAL,
    }
}

/// The tasks by queue, and when each queue is told next; `None`: it was never told.
#[derive(Debug)]
pub(super) struct DeclaredLimits {
    queues: Mutex<HashMap<QueueName, (LimitsDeclaration, Option<Instant>)>>,
}

impl DeclaredLimits {
    /// What is declared in each queue by the tasks that name it, under all their names.
    pub(super) fn of(registry: &Registry) -> Self {
        let mut queues: HashMap<QueueName, (LimitsDeclaration, Option<Instant>)> = HashMap::new();
        for def in registry.iter().map(|task| &task.def) {
            // The registry has checked it.
            let Ok(queue) = QueueName::new(def.queue) else { continue };
            let empty = || (LimitsDeclaration { queue: queue.clone(), tasks: Vec::new() }, None);
            let (declaration, _) = queues.entry(queue.clone()).or_insert_with(empty);
            let names = std::iter::once(&def.name).chain(def.aliases);
            declaration.tasks.extend(names.map(|name| ((*name).to_owned(), def.concurrency)));
        }
        Self { queues: Mutex::new(queues) }
    }

    /// Tells a queue, if it is time to. Only the first time is it an error when that fails: before it, a claim might start
    /// more than may run.
    pub(super) async fn renew(&self, store: &dyn Store, queue: &QueueName) -> Result<()> {
        let now = Instant::now();
        let Some((declaration, first)) = self.due(queue, now) else { return Ok(()) };
        match store.declare_limits(declaration).await {
            Err(error) if first => return Err(error),
            Err(error) => tracing::debug!(%queue, %error, "limits of tasks could not be declared again"),
            Ok(()) => {}
        }
        if let Some((declaration, next)) = self.queues.lock().unwrap_or_else(PoisonError::into_inner).get_mut(queue) {
            *next = Some(now + interval(declaration));
        }
        Ok(())
    }

    /// What to tell a queue now, and whether it was never told.
    fn due(&self, queue: &QueueName, now: Instant) -> Option<(LimitsDeclaration, bool)> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let (declaration, next) = queues.get(queue)?;
        next.is_none_or(|next| next <= now).then(|| (declaration.clone(), next.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_forgot_limits_is_told_of_them_soon_and_one_without_is_left_alone() {
        let declaration = |limit| LimitsDeclaration {
            queue: QueueName::default(),
            tasks: vec![("free".to_owned(), None), ("bound".to_owned(), limit)],
        };
        assert_eq!(interval(&declaration(Some(1))), Duration::from_secs(5));
        assert_eq!(interval(&declaration(None)), Duration::from_secs(60));
    }
}
