//! Schedules as checks make, look at and fire them.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{Declaration, DeclareOutcome, Fire, Fired, ScheduleAction, ScheduleOutcome, ScheduleRequest, Tick};
use dtq::types::{
    By, Missed, Overlap, Policy, Priority, Schedule, ScheduleId, ScheduleSpec, TaskId, Timestamp, Timing, Uuid,
};

use crate::{World, queue, want};

/// The queue and name of the schedule that checks use when they need only one.
pub const NIGHTLY: &str = "default:nightly";

/// A schedule of the task `report` every so many seconds, in the queue and with the name of its id.
///
/// # Panics
/// When the id is not usable.
pub fn every(seconds: u64, id: &str) -> ScheduleSpec {
    ScheduleSpec {
        id: id.parse().expect("a usable id"),
        timing: Timing::Every(Duration::from_secs(seconds)),
        missed: Missed::Once,
        overlap: Overlap::Allow,
        task: "report".to_owned(),
        payload: Bytes::from_static(b"{}"),
        priority: Priority::default(),
        policy: Policy::DEFAULT,
    }
}

/// Tasks for a tick, and the tick after it `next_in` from now.
pub fn firing(tick: &Tick, tasks: usize, next_in: Duration) -> Fire {
    let Schedule { spec, revision, next, .. } = &tick.schedule;
    Fire {
        id: spec.id.clone(),
        revision: *revision,
        from: *next,
        next: Some(tick.now.plus(next_in)),
        tick: (tasks > 0).then_some(tick.now),
        tasks: (0..tasks).map(|_| spec.new_task(Uuid::now_v7())).collect(),
        asked: None,
    }
}

/// Each panics when the store answers with an error.
#[allow(clippy::missing_panics_doc, reason = "said once above")]
impl World {
    /// Makes a schedule.
    pub async fn add(&self, spec: ScheduleSpec) -> ScheduleId {
        let id = spec.id.clone();
        assert_eq!(self.steer_schedule(&id, ScheduleAction::Add(spec)).await, ScheduleOutcome::Done);
        id
    }

    /// Does something about a schedule.
    pub async fn steer_schedule(&self, id: &ScheduleId, action: ScheduleAction) -> ScheduleOutcome {
        self.store()
            .steer_schedule(ScheduleRequest { id: id.clone(), action, by: By::new("ann", "tidying up") })
            .await
            .expect("steer_schedule")
    }

    /// Does something about a schedule that must work.
    pub async fn steer_to(&self, id: &ScheduleId, action: ScheduleAction) {
        assert_eq!(self.steer_schedule(id, action).await, ScheduleOutcome::Done);
    }

    /// Declares schedules as a worker's code; gives its stamp and what became of the first one.
    pub async fn declare(&self, specs: &[ScheduleSpec], stamp: Option<Timestamp>) -> (Timestamp, DeclareOutcome) {
        let declaration = Declaration { specs: specs.to_vec(), stamp };
        let declared = self.store().declare_schedules(declaration).await.expect("declare_schedules");
        assert_eq!(declared.outcomes.len(), specs.len());
        (declared.stamp, declared.outcomes[0])
    }

    /// The schedules of a queue that are due.
    pub async fn ticks_of(&self, name: &str) -> Vec<Tick> {
        let claim = dtq::store::Claim { queue: queue(name), ..want(0) };
        self.claim_with(claim).await.ticks
    }

    /// The one schedule that is due.
    pub async fn tick(&self) -> Tick {
        let mut ticks = self.ticks_of(crate::DEFAULT).await;
        assert_eq!(ticks.len(), 1, "{ticks:?}");
        ticks.remove(0)
    }

    /// True when no schedule is due.
    pub async fn is_silent(&self) -> bool {
        self.ticks_of(crate::DEFAULT).await.is_empty()
    }

    /// Fires.
    pub async fn fire(&self, fire: Fire) -> Fired {
        self.store().fire(fire).await.expect("fire")
    }

    /// A schedule that was added and whose next tick, in `next_in`, is reckoned.
    pub async fn planned(&self, spec: ScheduleSpec, next_in: Duration) -> ScheduleId {
        let id = self.add(spec).await;
        let tick = self.tick().await;
        assert_eq!(self.fire(firing(&tick, 0, next_in)).await, Fired::Applied);
        id
    }

    /// A schedule as it stands.
    pub async fn schedule(&self, id: &ScheduleId) -> Option<Schedule> {
        let all = self.store().schedules(id.queue()).await.expect("schedules").schedules;
        all.into_iter().find(|schedule| schedule.spec.id == *id)
    }

    /// The tasks that are ready, by claiming them.
    pub async fn ready(&self) -> Vec<TaskId> {
        self.claim(100).await.into_iter().map(|delivery| delivery.lease.task).collect()
    }
}
