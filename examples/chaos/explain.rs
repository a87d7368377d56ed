//! Why a task ran once more: by design, because something was wrong at the time, or for no reason that may be.

use crate::history::Run;
use crate::inject::{Cause, Reach, Window};
use crate::ledger::{End, Micros, SECOND};

/// An end that the store was not told of within this time, while nothing was wrong, should have been.
const SETTLED: Micros = SECOND;
/// How long after a fault its consequences last: the longest pause between two tries, and a call's own time limit.
const AFTERMATH: Micros = 3 * SECOND;

/// What explains a repeated run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The run before it failed as designed.
    Retry,
    Fault(Cause),
}

impl Reason {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Fault(cause) => cause.name(),
        }
    }
}

pub(crate) struct Explainer {
    pub(crate) windows: Vec<Window>,
    /// How far back a restart of the server reaches in what it forgets; `None` when it forgets nothing.
    pub(crate) forgets: Option<Micros>,
}

impl Explainer {
    /// Why `next` began although `run` had begun before.
    pub(crate) fn explain(&self, run: &Run, next: &Run) -> Option<Reason> {
        if is_retry(run, next) {
            return Some(Reason::Retry);
        }
        self.fault_in(run, next.begin).map(Reason::Fault)
    }

    /// What was wrong while a run went on, or before the store knew of its end; looks no further than to `until`.
    pub(crate) fn fault_in(&self, run: &Run, until: Micros) -> Option<Cause> {
        let met = self.windows.iter().filter(|window| self.meets(window, run, until));
        met.map(|window| window.cause).min()
    }

    fn meets(&self, window: &Window, run: &Run, until: Micros) -> bool {
        let reached = match &window.reach {
            Reach::All => true,
            Reach::Member(member) => member == run.member(),
            Reach::Process(process) => *process == run.process,
        };
        let known = run.end.map_or(until, |(at, _)| at + SETTLED).min(until);
        let aftermath = match window.cause {
            // A dead process does nothing afterwards.
            Cause::Kill | Cause::Deploy => 0,
            _ => AFTERMATH,
        };
        reached && self.reaches_back_to(window) <= known && window.to + aftermath >= run.begin
    }

    fn reaches_back_to(&self, window: &Window) -> Micros {
        let back = self.forgets.filter(|_| window.cause == Cause::Restart).unwrap_or(0);
        window.from.saturating_sub(back)
    }

    /// True when the server forgot what it had answered at that time.
    pub(crate) fn was_forgotten(&self, at: Micros) -> bool {
        let forgets = |window: &&Window| window.cause == Cause::Restart && self.forgets.is_some();
        self.windows.iter().filter(forgets).any(|window| self.reaches_back_to(window) <= at && at <= window.to)
    }
}

fn is_retry(run: &Run, next: &Run) -> bool {
    let failed = |(at, end): (Micros, End)| matches!(end, End::Failed | End::Panicked) && at <= next.begin;
    run.end.is_some_and(failed) && next.attempt > run.attempt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(process: &str, attempt: u32, begin: Micros, end: Option<(Micros, End)>) -> Run {
        let (begin, end) = (begin * SECOND, end.map(|(at, end)| (at * SECOND, end)));
        Run { process: process.into(), attempt, begin, end, token: String::new() }
    }

    fn window(cause: Cause, reach: Reach, from: Micros, to: Micros) -> Window {
        Window { cause, reach, from: from * SECOND, to: to * SECOND }
    }

    fn explained(windows: Vec<Window>, first: &Run, next: &Run) -> Option<Reason> {
        Explainer { windows, forgets: None }.explain(first, next)
    }

    #[test]
    fn nothing_explains_a_second_run_when_nothing_was_wrong() {
        let next = run("w.1", 2, 20, None);
        assert_eq!(explained(vec![], &run("v.1", 1, 10, None), &next), None);
        assert_eq!(explained(vec![], &run("v.1", 1, 10, Some((11, End::Ok))), &next), None);
    }

    #[test]
    fn a_designed_failure_explains_the_next_attempt_only() {
        let first = run("v.1", 1, 10, Some((11, End::Failed)));
        assert_eq!(explained(vec![], &first, &run("w.1", 2, 20, None)), Some(Reason::Retry));
        assert_eq!(explained(vec![], &first, &run("w.1", 1, 20, None)), None);
        let ok = run("v.1", 1, 10, Some((11, End::Ok)));
        assert_eq!(explained(vec![], &ok, &run("w.1", 2, 20, None)), None);
    }

    #[test]
    fn a_kill_explains_what_its_process_had_not_settled() {
        let next = run("w.1", 2, 40, None);
        let kill = |process: &str, at| vec![window(Cause::Kill, Reach::Process(process.into()), at, at)];
        let killed = Some(Reason::Fault(Cause::Kill));
        assert_eq!(explained(kill("v.1", 20), &run("v.1", 1, 10, None), &next), killed);
        assert_eq!(explained(kill("v.2", 20), &run("v.1", 1, 10, None), &next), None, "another process");
        let done = run("v.1", 1, 10, Some((15, End::Ok)));
        assert_eq!(explained(kill("v.1", 16), &done, &next), killed, "just after its end");
        assert_eq!(explained(kill("v.1", 20), &done, &next), None, "long after its end");
    }

    #[test]
    fn a_fault_has_an_aftermath_that_ends() {
        let (first, next) = (run("v.1", 1, 10, Some((11, End::Ok))), run("w.1", 2, 40, None));
        let cut = |to| vec![window(Cause::Network, Reach::Member("v".into()), 1, to)];
        assert_eq!(explained(cut(8), &first, &next), Some(Reason::Fault(Cause::Network)));
        assert_eq!(explained(cut(6), &first, &next), None);
    }
}
