//! What is done by hand to many tasks in one step.

use redis::{Cmd, Value};

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{BATCH, RequeueFrom, Result, Steer, Steered, Steering};
use crate::types::{ErrorKind, Failure, Status};

pub(super) async fn steer(store: &RedisStore, steering: &Steering) -> Result<Vec<Steered>> {
    let operation = steering.action.audited_as().as_str();
    let mut answers = Vec::with_capacity(steering.targets.len());
    for targets in steering.targets.chunks(BATCH) {
        let step = Steering { targets: targets.to_vec(), ..steering.clone() };
        let (script, call) = match &step.action {
            Steer::Cancel { statuses } => (&SCRIPTS.cancel, cancel(store, &step, statuses)),
            Steer::Requeue { .. } => (&SCRIPTS.requeue, on_finished(store, &step)),
            Steer::Discard | Steer::Purge => (&SCRIPTS.discard, on_finished(store, &step)),
        };
        let answer = store.link.eval(operation, script, &call).await?;
        let told = reply::list(answer).and_then(|told| told.into_iter().map(steered).collect::<Option<Vec<_>>>());
        answers.extend(told.ok_or_else(|| store.link.corrupt(operation, "an unexpected answer of its script"))?);
    }
    Ok(answers)
}

/// A call of `cancel.lua`.
pub(super) fn cancel(store: &RedisStore, step: &Steering, statuses: &[Status]) -> Cmd {
    // The reason becomes a line of the history, so it is bounded like any other failure's.
    let reason = Failure::new(ErrorKind::Cancelled, step.by.reason.as_str()).message;
    let mut call = Link::call(&SCRIPTS.cancel, &store.keys.root(&step.queue));
    call.arg(store.link.options().event_log).arg(record::escape(&reason));
    call.arg(&step.words).arg(&step.by.actor).arg(&step.by.reason);
    call.arg(statuses.iter().map(|&status| record::letter(status)).collect::<String>());
    for target in &step.targets {
        call.arg(target.id.uuid().to_string());
    }
    call
}

/// A call of a script that acts on finished tasks.
fn on_finished(store: &RedisStore, step: &Steering) -> Cmd {
    let script = if let Steer::Requeue { .. } = step.action { &SCRIPTS.requeue } else { &SCRIPTS.discard };
    let mut call = Link::call(script, &store.keys.root(&step.queue));
    call.arg(store.link.options().event_log).arg(&step.words).arg(&step.by.actor).arg(&step.by.reason);
    match &step.action {
        Steer::Requeue { from, payload } => {
            let (letters, discarded) = match from {
                RequeueFrom::DeadLetters => ("D", 0),
                RequeueFrom::Unsuccessful => ("DFCX", 1),
                RequeueFrom::Finished => ("DFCXS", 1),
            };
            call.arg(letters).arg(discarded);
            call.arg(u8::from(payload.is_some())).arg(payload.as_deref().unwrap_or_default());
        }
        _ => {
            call.arg(u8::from(step.action == Steer::Purge));
        }
    }
    for target in &step.targets {
        call.arg(target.id.uuid().to_string());
        match target.finished_at {
            Some(at) => call.arg(at.as_millis()),
            None => call.arg(""),
        };
    }
    call
}

/// Reads the scripts' answer to one target.
pub(super) fn steered(told: Value) -> Option<Steered> {
    Some(match reply::text(told)?.as_str() {
        "+" => Steered::Done,
        "!" | "!!" => Steered::Requested,
        "-" => Steered::NotFound,
        "~" => Steered::Changed,
        "=" => Steered::Discarded,
        letter => {
            let status = Status::ALL.into_iter().find(|&status| letter.chars().eq([record::letter(status)]));
            Steered::Unfit(status?)
        }
    })
}
