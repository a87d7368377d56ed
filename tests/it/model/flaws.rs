//! The comparison itself on trial, without a store: copies of the model, bent on purpose, must be found out.

use super::answers::{Answer, Seen, Step};
use super::play::play;
use super::pure::Model;
use super::subject::Subject;
use super::verbs::{End, Hold, New, UniqueKey, Verb};
use super::{CASES, search};

/// A model that hears each step bent.
struct Bent {
    model: Model,
    bend: fn(Step) -> Step,
}

impl Subject for Bent {
    fn call(&mut self, step: &Step) -> Result<Answer, String> {
        Ok(self.model.call(&(self.bend)(step.clone()), None))
    }

    fn look(&mut self, tasks: &[usize]) -> Result<Seen, String> {
        Ok(self.model.seen(tasks))
    }
}

fn try_copy(bend: fn(Step) -> Step) -> Result<(), (String, Vec<Verb>)> {
    search(1, CASES, |verbs| play(verbs, &mut Bent { model: Model::default(), bend }).map(drop))
}

/// Renewals end leases at once.
fn renewals_are_void(step: Step) -> Step {
    match step {
        Step::Renew { worker, leases, .. } => Step::Renew { worker, leases, lease: 0 },
        other => other,
    }
}

/// Retries are due at once.
fn retries_do_not_wait(step: Step) -> Step {
    let at_once = |(grant, end)| (grant, if let End::Retry(_) = end { End::Retry(0) } else { end });
    match step {
        Step::Settle(ends) => Step::Settle(ends.into_iter().map(at_once).collect()),
        other => other,
    }
}

/// Idempotency keys are forgotten.
fn keys_are_void(step: Step) -> Step {
    match step {
        Step::Enqueue(tasks) => {
            Step::Enqueue(tasks.into_iter().map(|(n, new)| (n, New { key: None, ..new })).collect())
        }
        other => other,
    }
}

/// Unique keys that are free at the start are held until the end.
fn keys_outlive_the_start(step: Step) -> Step {
    let finished = |unique: UniqueKey| match unique.hold {
        Hold::Started => UniqueKey { hold: Hold::Finished, ..unique },
        _ => unique,
    };
    match step {
        Step::Enqueue(tasks) => {
            let bent = |(n, new): (usize, New)| (n, New { unique: new.unique.map(finished), ..new });
            Step::Enqueue(tasks.into_iter().map(bent).collect())
        }
        other => other,
    }
}

#[test]
fn the_model_agrees_with_itself() {
    assert_eq!(try_copy(|step| step), Ok(()));
}

#[test]
fn void_renewals_are_found_and_shrunk() {
    let (why, verbs) = try_copy(renewals_are_void).unwrap_err();
    let [Verb::Enqueue(tasks), Verb::Claim(_), Verb::Renew { leases, .. }, Verb::Claim(_)] = &verbs[..] else {
        panic!("not the shortest sequence: {verbs:?}");
    };
    assert_eq!((tasks.len(), leases.len()), (1, 1), "{why}");
    assert!(why.contains("renew as w") && why.contains("the model says"), "{why}");
}

#[test]
fn early_retries_are_found_and_shrunk() {
    let (why, verbs) = try_copy(retries_do_not_wait).unwrap_err();
    let [Verb::Enqueue(tasks), Verb::Claim(_), Verb::Settle(ends), Verb::Claim(_)] = &verbs[..] else {
        panic!("not the shortest sequence: {verbs:?}");
    };
    assert_eq!(tasks.len(), 1, "{why}");
    assert_eq!(ends[..], [(0, End::Retry(1))], "{why}");
    assert!(why.contains("retry after 50 s"), "{why}");
}

#[test]
fn void_keys_are_found_and_shrunk() {
    let (why, verbs) = try_copy(keys_are_void).unwrap_err();
    let tasks: usize = verbs.iter().map(|verb| if let Verb::Enqueue(tasks) = verb { tasks.len() } else { 9 }).sum();
    assert_eq!(tasks, 2, "not the shortest sequence: {verbs:?}");
    assert!(why.contains("idempotency key") && why.contains("InProgress"), "{why}");
}

#[test]
fn keys_that_outlive_the_start_are_found_and_shrunk() {
    let (why, verbs) = try_copy(keys_outlive_the_start).unwrap_err();
    assert!(verbs.len() <= 3, "not the shortest sequence: {verbs:?}");
    assert!(why.contains("until Started"), "{why}");
}
