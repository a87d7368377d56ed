//! Tells the store again and again which schedules stand in the code of this worker's tasks. So they begin without a step of
//! their own, come back by themselves when a store lost its data, and end when no code has them any more.

use std::collections::{HashMap, HashSet};

use crate::store::{Declaration, DeclareOutcome, Result, Store};
use crate::types::{QueueName, ScheduleId, ScheduleSpec, Timestamp};

/// The schedules of a worker's code.
#[derive(Debug)]
pub(super) struct Declarations {
    /// By queue.
    specs: Vec<Vec<ScheduleSpec>>,
    stamps: HashMap<QueueName, Timestamp>,
    /// What was told of: once is enough.
    told: HashSet<ScheduleId>,
}

impl Declarations {
    /// Those of the queues that this worker reads: it would not fire others.
    pub(super) fn new(mut specs: Vec<ScheduleSpec>, queues: &[QueueName]) -> Self {
        specs.retain(|spec| queues.contains(spec.id.queue()));
        let by_queue = specs.chunk_by(|a, b| a.id.queue() == b.id.queue()).map(<[_]>::to_vec).collect();
        Self { specs: by_queue, stamps: HashMap::new(), told: HashSet::new() }
    }

    /// True when there is nothing to declare.
    pub(super) fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Declares them.
    pub(super) async fn declare(&mut self, store: &dyn Store) -> Result<()> {
        for specs in &self.specs {
            let Some(queue) = specs.first().map(|spec| spec.id.queue()) else { continue };
            let stamp = self.stamps.get(queue).copied();
            let declared = store.declare_schedules(Declaration { specs: specs.clone(), stamp }).await?;
            self.stamps.insert(queue.clone(), declared.stamp);
            for (spec, outcome) in specs.iter().zip(declared.outcomes) {
                tell(&spec.id, outcome, &mut self.told);
            }
        }
        Ok(())
    }
}

fn tell(id: &ScheduleId, outcome: DeclareOutcome, told: &mut HashSet<ScheduleId>) {
    let why = match outcome {
        DeclareOutcome::Standing => {
            told.remove(id);
            return;
        }
        DeclareOutcome::Outdated => "a worker that was started later has another one in its code",
        DeclareOutcome::Taken => "a client made a schedule of this name; remove that one, or rename the task",
        DeclareOutcome::Full => "the queue has as many schedules as it can hold",
    };
    if told.insert(id.clone()) {
        tracing::warn!(schedule = %id, why, "the schedule in this worker's code does not stand");
    }
}
