//! `declare_schedules`, `steer_schedule`: making and changing schedules.

use super::errors::Outcome;
use super::row::millis;
use super::schedules::Plan;
use super::txn::{Step, Txn};
use crate::store::{
    DECLARED_FOR, Declaration, DeclareOutcome, Declared, MOST_SCHEDULES, ScheduleAction, ScheduleOutcome,
    ScheduleRequest, definition,
};
use crate::types::ScheduleSpec;

/// Takes what a worker's code has.
pub(super) fn declare(txn: &mut Txn<'_>, declaration: &Declaration) -> Outcome<Declared> {
    let stamp = declaration.stamp.unwrap_or(txn.now);
    let declare = |spec: &ScheduleSpec| {
        let mut step = txn.step_or_new(spec.id.queue())?;
        declare_one(&mut step, spec, stamp.as_millis())
    };
    let outcomes = declaration.specs.iter().map(declare).collect::<Outcome<_>>()?;
    Ok(Declared { stamp, outcomes })
}

fn declare_one(step: &mut Step<'_>, spec: &ScheduleSpec, stamp: i64) -> Outcome<DeclareOutcome> {
    let now = step.now;
    let known = step.plan(spec.id.name())?;
    let is_new = known.is_none();
    if is_new && full(step)? {
        return Ok(DeclareOutcome::Full);
    }
    let mut plan = known.unwrap_or_else(|| Plan { in_code: true, ..Plan::new(spec.id.name(), now) });
    if !plan.in_code {
        return Ok(DeclareOutcome::Taken);
    }
    let text = definition::write(spec);
    let other = plan.spec != text || plan.payload != spec.payload;
    if !is_new && other && stamp <= plan.stamp && plan.declared(now) {
        return Ok(DeclareOutcome::Outdated);
    }
    if other {
        (plan.spec, plan.payload) = (text, spec.payload.clone());
        plan.begin_anew(now);
    } else if plan.left_at.is_some() {
        // Its ticks since then were missed, like those of a time without any worker.
        plan.look_at = (!plan.paused).then(|| plan.next_at.unwrap_or(now.as_millis()));
    }
    plan.left_at = None;
    plan.stamp = plan.stamp.max(stamp);
    plan.declared_until = plan.declared_until.max(now.as_millis() + millis(DECLARED_FOR));
    step.save_plan(&plan)?;
    Ok(DeclareOutcome::Standing)
}

/// Does what was asked.
pub(super) fn steer(txn: &mut Txn<'_>, request: &ScheduleRequest) -> Outcome<ScheduleOutcome> {
    let ScheduleRequest { id, action, .. } = request;
    if let ScheduleAction::Add(spec) = action {
        return add(&mut txn.step_or_new(id.queue())?, spec, request);
    }
    let Some(mut step) = txn.step(id.queue())? else { return Ok(ScheduleOutcome::NotFound) };
    let Some(mut plan) = step.plan(id.name())? else { return Ok(ScheduleOutcome::NotFound) };
    let (now, in_code) = (step.now, plan.declared(step.now));
    match action {
        ScheduleAction::Change(_) | ScheduleAction::Remove if in_code => return Ok(ScheduleOutcome::InCode),
        ScheduleAction::Remove => {
            step.delete_plan(&plan)?;
            return done(&mut step, request);
        }
        ScheduleAction::Change(spec) | ScheduleAction::Add(spec) => {
            if same(&plan, spec) {
                return Ok(ScheduleOutcome::Done);
            }
            (plan.in_code, plan.left_at) = (false, None);
            (plan.spec, plan.payload) = (definition::write(spec), spec.payload.clone());
            plan.begin_anew(now);
        }
        ScheduleAction::Pause if !plan.paused => {
            plan.paused = true;
            plan.revision += 1;
            // What nobody declares keeps its place, at which it is forgotten.
            plan.look_at = plan.look_at.filter(|_| plan.left_at.is_some());
        }
        ScheduleAction::Resume if plan.paused => {
            plan.paused = false;
            if plan.left_at.is_none() {
                plan.begin_anew(now);
            }
        }
        ScheduleAction::Pause | ScheduleAction::Resume => return Ok(ScheduleOutcome::Done),
    }
    step.save_plan(&plan)?;
    done(&mut step, request)
}

/// Notes in the audit log what changed something.
fn done(step: &mut Step<'_>, request: &ScheduleRequest) -> Outcome<ScheduleOutcome> {
    step.audit(request.action.audited(), &request.id.to_string(), 0, &request.by)?;
    Ok(ScheduleOutcome::Done)
}

fn add(step: &mut Step<'_>, spec: &ScheduleSpec, request: &ScheduleRequest) -> Outcome<ScheduleOutcome> {
    let id = &request.id;
    let known = step.plan(id.name())?;
    match &known {
        Some(plan) if !plan.in_code && same(plan, spec) => return Ok(ScheduleOutcome::Done),
        Some(plan) if !plan.in_code || plan.declared(step.now) => return Ok(ScheduleOutcome::Exists),
        None if full(step)? => return Ok(ScheduleOutcome::Full),
        _ => {}
    }
    let mut plan = Plan::new(id.name(), step.now);
    if let Some(known) = known {
        (plan.seq, plan.paused) = (known.seq, known.paused);
    }
    (plan.spec, plan.payload) = (definition::write(spec), spec.payload.clone());
    plan.begin_anew(step.now);
    step.save_plan(&plan)?;
    done(step, request)
}

/// True when a client made it and it says just this.
fn same(plan: &Plan, spec: &ScheduleSpec) -> bool {
    !plan.in_code && plan.spec == definition::write(spec) && plan.payload == spec.payload
}

fn full(step: &Step<'_>) -> Outcome<bool> {
    Ok(usize::try_from(step.count_plans()?).unwrap_or(usize::MAX) >= MOST_SCHEDULES)
}
