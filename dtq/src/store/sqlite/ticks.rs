//! Schedules that are due, and `fire`.

use super::enqueue;
use super::errors::{Fault, Outcome};
use super::row::millis;
use super::schedules::Plan;
use super::txn::{Step, Txn};
use crate::store::{BATCH, Fire, Fired, TICK_HELD, Tick, UNDECLARED_KEPT, definition};
use crate::types::{AuditAction, Overlap, QueueName, Timestamp};

/// The schedules that want to be looked at. Each is hidden from others for a while, so that one worker at a time looks.
pub(super) fn due(step: &mut Step<'_>, queue: &QueueName) -> Outcome<Vec<Tick>> {
    let now = step.now.as_millis();
    if step.queue.tick_at().is_none_or(|tick_at| tick_at > now) {
        return Ok(Vec::new());
    }
    let mut ticks = Vec::new();
    for mut plan in step.plans_due(i64::try_from(BATCH).unwrap_or(i64::MAX))? {
        if plan.in_code && !plan.declared(step.now) {
            if plan.left_at.is_some() {
                step.delete_plan(&plan)?;
                continue;
            }
            plan.left_at = Some(now);
            plan.look_at = Some(now.saturating_add(millis(UNDECLARED_KEPT)));
        } else {
            match plan.schedule(queue, step.now) {
                Ok(schedule) => ticks.push(Tick { schedule, now: step.now }),
                // Of a newer version: its workers shall fire it, and the tasks here shall go on.
                Err(Fault::Data(problem)) => tracing::error!(%queue, problem, "a schedule is passed over"),
                Err(fault) => return Err(fault),
            }
            plan.look_at = Some(now.saturating_add(millis(TICK_HELD)));
        }
        step.save_plan(&plan)?;
    }
    Ok(ticks)
}

/// Makes the tasks of ticks, if the schedule still stands as it was when they were reckoned.
pub(super) fn fire(txn: &mut Txn<'_>, fire: &Fire) -> Outcome<Fired> {
    let Some(mut step) = txn.step(fire.id.queue())? else { return Ok(Fired::Stale) };
    let Some(mut plan) = step.plan(fire.id.name())? else { return Ok(Fired::Stale) };
    let asleep = step.queue.paused || plan.paused || plan.left_at.is_some();
    let stands = plan.revision == i64::try_from(fire.revision).unwrap_or(i64::MAX)
        && plan.next_at == fire.from.map(Timestamp::as_millis);
    if !stands || (asleep && fire.asked.is_none()) {
        return Ok(Fired::Stale);
    }
    let passed = !fire.tasks.is_empty() && fire.asked.is_none() && skips(&plan, fire) && last_unfinished(&step, &plan)?;
    if passed {
        plan.passed += 1;
    } else {
        for task in &fire.tasks {
            plan.fired += i64::from(enqueue::accept(&mut step, task)?.created);
            plan.last_task = Some(task.id.uuid());
        }
        plan.last_at = fire.tick.map(Timestamp::as_millis).or(plan.last_at);
    }
    match &fire.asked {
        // Its ticks stay where they are, also one that is being reckoned at this moment.
        Some(by) => step.audit(AuditAction::RunSchedule, &fire.id.to_string(), fire.tasks.len(), by)?,
        None => {
            plan.next_at = fire.next.map(Timestamp::as_millis);
            plan.look_at = plan.next_at;
        }
    }
    step.save_plan(&plan)?;
    Ok(if passed { Fired::PassedOver } else { Fired::Applied })
}

fn skips(plan: &Plan, fire: &Fire) -> bool {
    let spec = definition::read(fire.id.clone(), &plan.spec, plan.payload.clone());
    spec.is_some_and(|spec| spec.overlap == Overlap::Skip)
}

/// Whether the task of the tick before is still to be done.
fn last_unfinished(step: &Step<'_>, plan: &Plan) -> Outcome<bool> {
    let Some(uuid) = plan.last_task else { return Ok(false) };
    Ok(step.by_uuid(uuid)?.is_some_and(|head| !head.status.is_terminal()))
}
