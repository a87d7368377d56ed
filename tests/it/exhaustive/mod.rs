//! The protocol of the stores as a small model, of which every state is visited: two tasks, two workers, a mover, two
//! attempts; a worker may die between any two steps, or go on later with a lease that is no longer its own, and the
//! mover may die once.
//!
//! The right design passes. Each wrong one differs from it in one flag and is refuted by the shortest way to its fault.
//! To read these ways:
//!
//! ```text
//! cargo test -p dtq-tests --test it exhaustive -- --nocapture
//! ```
//!
//! Stateright explores a plain Rust state machine. A checker of our own would be one more thing to trust.

mod actions;
mod claims;
mod design;
mod state;
mod steps;

use stateright::{Checker, Model};

use self::actions::Action::{self, *};
use self::claims::{ATTEMPTS, END, LEASES, LOST, TWICE};
use self::design::Design;
use self::state::{State, Verdict};

/// A shortest way to a state that breaks the claim, if there is one of so many steps.
fn counterexample(design: Design, claim: &'static str, steps: usize) -> Option<Vec<Action>> {
    // The checker counts states, and does not look at the last one.
    let checker = design.checker().target_max_depth(steps + 2).spawn_bfs().join();
    checker.discovery(claim).map(stateright::Path::into_actions)
}

fn follow(design: Design, story: &[Action]) -> Option<State> {
    story.iter().try_fold(State::empty(), |state, action| design.next_state(&state, *action))
}

/// True when the claim holds in that state.
fn holds(design: Design, claim: &str, state: &State) -> bool {
    let property = design.properties().into_iter().find(|property| property.name == claim);
    (property.expect("a claim").condition)(&design, state)
}

/// Asserts that the wrong design breaks the claim in this way and in none that is shorter, and that the right one,
/// taken the same way as far as it goes, does not.
fn assert_refuted(wrong: Design, claim: &'static str, story: &[Action]) {
    assert_eq!(counterexample(wrong, claim, story.len() - 1), None, "{claim}: there is a shorter way");
    let found = counterexample(wrong, claim, story.len()).unwrap_or_else(|| panic!("not refuted: {claim}"));
    let steps: String = found.iter().map(|action| format!("    {action:?}\n")).collect();
    eprintln!("{wrong:?}\nbreaks the claim that {claim}:\n{steps}");
    let end = follow(wrong, story).expect("a way that can be gone");
    assert!(!holds(wrong, claim, &end), "{claim}: it holds at the end of the story");
    let right = follow(Design::RIGHT, story);
    assert!(right.is_none_or(|end| holds(Design::RIGHT, claim, &end)), "{claim}: the right design breaks it too");
}

#[test]
fn the_right_design_keeps_every_promise() {
    let checker = Design::RIGHT.checker().threads(2).spawn_bfs().join();
    eprintln!("{} states, {} deep", checker.unique_state_count(), checker.max_depth());
    // Every claim holds in every state, and all that the claims speak of does occur.
    checker.assert_properties();
    assert!(checker.unique_state_count() > 500_000, "only {} states", checker.unique_state_count());
}

const TAKE: [Action; 2] = [Enqueue { task: 0, delayed: false }, Claim { task: 0, entry: 0 }];
const TAKE_OVER: [Action; 2] = [Lapse { task: 0, entry: 0 }, Reclaim { task: 0, entry: 0 }];

#[test]
fn acknowledge_first_loses_a_task() {
    let wrong = Design { acknowledge_last: false, ..Design::RIGHT };
    let dies_between = [Settle { worker: 1, verdict: Verdict::Succeeded }, WorkerDies { worker: 1 }];
    assert_refuted(wrong, LOST, &[TAKE, dies_between].concat());
}

#[test]
fn no_fencing_token_gives_two_live_leases() {
    let wrong = Design { fencing: false, ..Design::RIGHT };
    // The old owner wakes up and renews.
    assert_refuted(wrong, LEASES, &[&TAKE[..], &TAKE_OVER, &[Renew { worker: 0 }]].concat());
}

#[test]
fn no_fencing_token_gives_an_attempt_too_many() {
    let wrong = Design { fencing: false, ..Design::RIGHT };
    // The old owner, in its first attempt, schedules a second one while that is under way already.
    let retry = [Settle { worker: 0, verdict: Verdict::Retry }, Find { task: 0 }, Move];
    assert_refuted(wrong, ATTEMPTS, &[&TAKE[..], &TAKE_OVER, &retry].concat());
}

#[test]
fn remove_before_append_loses_a_task() {
    let wrong = Design { append_first: false, ..Design::RIGHT };
    assert_refuted(wrong, LOST, &[Enqueue { task: 0, delayed: true }, Find { task: 0 }, Move, MoverDies]);
}

#[test]
fn promote_without_the_queued_guard_brings_a_finished_task_back() {
    let wrong = Design { queued_guard: false, ..Design::RIGHT };
    assert_refuted(wrong, END, &[Enqueue { task: 0, delayed: true }, Cancel { task: 0 }, Find { task: 0 }, Move]);
}

#[test]
fn unabsorbed_duplicates_start_an_attempt_twice() {
    let wrong = Design { absorb: false, ..Design::RIGHT };
    let put_off = [Settle { worker: 1, verdict: Verdict::Retry }, Cancel { task: 0 }];
    let duplicate = [Find { task: 0 }, Move, Claim { task: 0, entry: 1 }];
    assert_refuted(wrong, TWICE, &[&TAKE[..], &put_off, &duplicate].concat());
}
