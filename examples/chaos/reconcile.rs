//! Every accepted task against what its handler's runs left in the ledgers, and against its record in the store.

use std::collections::BTreeMap;

use dtq::types::{Record, Status};

use crate::explain::{Explainer, Reason};
use crate::history::{History, Run};
use crate::inject::Cause;
use crate::ledger::{CancelAnswer, End, Micros};
use crate::plan::{Design, Planned};

/// What became of all tasks.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    /// Answers that did not come: each was asked for again.
    pub(crate) unknown: u64,
    pub(crate) executed_once: u64,
    pub(crate) executed_more: u64,
    /// Called off or expired before any run.
    pub(crate) never_executed: u64,
    pub(crate) statuses: BTreeMap<&'static str, u64>,
    /// What explains the runs after a task's first.
    pub(crate) reasons: BTreeMap<&'static str, u64>,
    /// Accepted, and never executed to its end.
    pub(crate) lost: u64,
    /// Those of them that a restart with `--power-loss` took.
    pub(crate) lost_to_power: u64,
    /// Executed to its end, or called off; then a restart with `--power-loss` took what the store knew of it.
    pub(crate) forgotten: u64,
    pub(crate) problems: Vec<String>,
}

/// What is known of one task.
pub(crate) struct Case<'a> {
    pub(crate) planned: &'a Planned,
    pub(crate) history: &'a History,
    pub(crate) record: Option<&'a Record>,
    /// How often the events told of its end.
    pub(crate) ends: u32,
}

impl Balance {
    pub(crate) fn add(&mut self, case: &Case<'_>, explainer: &Explainer) {
        let history = case.history;
        self.unknown += u64::from(history.unknown);
        self.refused += u64::from(history.refused);
        let Some(accepted) = history.accepted else {
            if !history.runs.is_empty() {
                self.problem(case, "it ran, and was never accepted");
            }
            return;
        };
        self.accepted += 1;
        self.explain_runs(case, explainer);
        let (lost, forgettable) = (case.lost(), explainer.was_forgotten(accepted));
        match (&lost, history.runs.len()) {
            (_, 1) => self.executed_once += 1,
            (_, 2..) => self.executed_more += 1,
            (None, _) => self.never_executed += 1,
            (Some(_), _) => {}
        }
        match lost {
            None => self.check(case, explainer),
            Some(_) if forgettable && case.was_done() => self.forgotten += 1,
            Some(_) if forgettable => {
                self.lost += 1;
                self.lost_to_power += 1;
            }
            Some(why) => {
                self.lost += 1;
                self.problem(case, &format!("lost: {why}"));
            }
        }
    }

    fn explain_runs(&mut self, case: &Case<'_>, explainer: &Explainer) {
        for pair in case.history.runs.windows(2) {
            let reason = explainer.explain(&pair[0], &pair[1]);
            *self.reasons.entry(reason.map_or("nothing", Reason::name)).or_default() += 1;
            let given_back = reason == Some(Reason::Fault(Cause::Deploy)) || explainer.forgets.is_some();
            if reason.is_none() {
                self.problem(case, &format!("nothing explains its run {}", pair[1].token));
            } else if pair[0].attempt == pair[1].attempt && !given_back {
                self.problem(case, &format!("attempt {} ran twice", pair[0].attempt));
            }
        }
    }

    fn check(&mut self, case: &Case<'_>, explainer: &Explainer) {
        let Some(record) = case.record else { return };
        *self.statuses.entry(record.status.as_str()).or_default() += 1;
        let mut wrong = case.wrong_end(record, explainer);
        // What the server forgot, it does again.
        if explainer.forgets.is_none() {
            wrong.extend(case.done_twice(explainer).into_iter().map(str::to_owned));
        }
        wrong.iter().for_each(|what| self.problem(case, what));
    }

    fn problem(&mut self, case: &Case<'_>, what: &str) {
        self.problems.push(format!("{what}: {}", case.tell()));
    }
}

impl Case<'_> {
    fn runs(&self, end: End) -> impl Iterator<Item = &Run> {
        self.history.runs.iter().filter(move |run| run.ended(end))
    }

    /// Why an accepted task counts as lost.
    fn lost(&self) -> Option<String> {
        match self.record {
            None => Some("the store does not know it".into()),
            Some(record) if !record.status.is_terminal() => Some(format!("it is still {}", record.status)),
            Some(record) if record.status == Status::Succeeded && self.runs(End::Ok).next().is_none() => {
                Some("it succeeded without having run to its end".into())
            }
            Some(_) => None,
        }
    }

    /// True when it came to its end or was called off, whatever the store says.
    fn was_done(&self) -> bool {
        if matches!(self.history.cancel, Some((_, CancelAnswer::Cancelled))) {
            return true;
        }
        let failed = self.runs(End::Failed).count();
        match self.planned.design {
            Design::Permanent => self.runs(End::Permanent).next().is_some(),
            design @ Design::Hopeless { .. } => failed >= design.max_attempts() as usize,
            _ => self.runs(End::Ok).next().is_some(),
        }
    }

    /// What is wrong with the status that the store shows.
    fn wrong_end(&self, record: &Record, explainer: &Explainer) -> Vec<String> {
        let (status, design) = (record.status, self.planned.design);
        let mut wrong = Vec::new();
        let mut check = |ok: bool, what: &str| {
            if !ok {
                wrong.push(what.to_owned());
            }
        };
        match status {
            Status::Cancelled => check(self.history.cancelling.is_some(), "nobody called it off"),
            Status::Expired => {
                check(self.planned.ttl.is_some(), "it has no time to live");
                let strange = |run: &Run| explainer.fault_in(run, Micros::MAX).is_none();
                check(!self.runs(End::Ok).any(strange), "it expired after it had run");
            }
            _ => check(status == design.end(), "it was to end otherwise"),
        }
        if status == Status::Succeeded {
            check(self.stands(record), "its result is of no run that returned it");
        }
        if status == Status::DeadLettered && design == Design::Permanent {
            check(self.runs(End::Permanent).next().is_some(), "it failed for good without having run");
        }
        let highest = self.history.runs.iter().map(|run| run.attempt).max().unwrap_or(0);
        check(highest <= design.max_attempts(), "it has more attempts than it may");
        wrong
    }

    /// What should happen once at most, and did twice.
    fn done_twice(&self, explainer: &Explainer) -> Vec<&'static str> {
        let mut wrong = Vec::new();
        if self.history.created > 1 {
            wrong.push("one id made two tasks");
        }
        if self.ends > 1 {
            wrong.push("it ended twice");
        }
        if let Some((at, CancelAnswer::Cancelled)) = self.history.cancel {
            let strange = |run: &Run| run.begin > at && explainer.fault_in(run, run.begin).is_none();
            if self.history.runs.iter().any(strange) {
                wrong.push("it ran after it was called off");
            }
            if self.record.is_some_and(|record| record.status != Status::Cancelled) {
                wrong.push("it was called off, and ended otherwise");
            }
        }
        wrong
    }

    /// True when the result is what the run of the recorded attempt returned.
    fn stands(&self, record: &Record) -> bool {
        let result = record.result.as_ref().and_then(|bytes| serde_json::from_slice::<String>(bytes).ok());
        self.runs(End::Ok).any(|run| Some(&run.token) == result.as_ref() && run.attempt == record.attempt)
    }

    fn tell(&self) -> String {
        let record = self.record.map(|record| (record.status, record.attempt, &record.attempts));
        format!("{}\n    {:?}\n    {record:?}", self.planned, self.history)
    }
}

#[cfg(test)]
mod tests {
    use dtq::types::{Policy, Priority, QueueName, TaskId, Timestamp};

    use super::*;
    use crate::ledger::SECOND;

    fn planned(design: Design) -> Planned {
        let id = TaskId::generate(QueueName::default());
        let (delay, ttl, cancel_after, again_after) = Default::default();
        Planned { id, design, ms: 1, priority: 5, delay, ttl, cancel_after, again_after }
    }

    fn run(attempt: u32, end: End) -> Run {
        let begin = u64::from(attempt) * 100 * SECOND;
        let token = format!("worker-0.1#{attempt}");
        Run { process: "worker-0.1".into(), attempt, begin, end: Some((begin + SECOND, end)), token }
    }

    fn history(runs: Vec<Run>) -> History {
        History { runs, accepted: Some(SECOND), created: 1, ..History::default() }
    }

    fn record(status: Status, attempt: u32) -> Record {
        Record {
            id: TaskId::generate(QueueName::default()),
            task: "steady".into(),
            status,
            attempt,
            priority: Priority::default(),
            policy: Policy::DEFAULT,
            payload: "{}".into(),
            result: Some(format!("\"worker-0.1#{attempt}\"").into()),
            enqueued_at: Timestamp::default(),
            due_at: None,
            finished_at: None,
            attempts: Vec::new(),
            cancel_requested: false,
            idempotency_key: None,
            unique_key: None,
            progress: None,
            log: vec![],
            checkpoint: None,
            requeued: None,
            discarded_at: None,
        }
    }

    /// The balance of one task, when nothing was wrong with the machine.
    fn balance(design: Design, history: &History, record: Option<&Record>, ends: u32) -> Balance {
        let mut balance = Balance::default();
        let explainer = Explainer { windows: Vec::new(), forgets: None };
        balance.add(&Case { planned: &planned(design), history, record, ends }, &explainer);
        balance
    }

    fn problem(balance: &Balance) -> &str {
        balance.problems.first().map_or("", |problem| problem.split(": default:").next().unwrap())
    }

    #[test]
    fn a_task_that_ran_as_designed_is_in_order() {
        let done = record(Status::Succeeded, 1);
        let once = balance(Design::Steady, &history(vec![run(1, End::Ok)]), Some(&done), 1);
        assert_eq!((once.accepted, once.executed_once, once.lost, problem(&once)), (1, 1, 0, ""));
        let runs = vec![run(1, End::Failed), run(2, End::Ok)];
        let again = record(Status::Succeeded, 2);
        let more = balance(Design::Flaky { failures: 1 }, &history(runs), Some(&again), 1);
        assert_eq!((more.executed_more, more.reasons["retry"], problem(&more)), (1, 1, ""));
    }

    #[test]
    fn what_was_accepted_and_did_not_run_to_its_end_is_lost() {
        let (waiting, done) = (record(Status::Queued, 1), record(Status::Succeeded, 1));
        for (runs, record, why) in [
            (vec![], None, "lost: the store does not know it"),
            (vec![run(1, End::Ok)], None, "lost: the store does not know it"),
            (vec![], Some(&waiting), "lost: it is still queued"),
            (vec![run(1, End::Dropped)], Some(&done), "lost: it succeeded without having run to its end"),
        ] {
            let balance = balance(Design::Steady, &history(runs), record, 0);
            assert_eq!((balance.lost, problem(&balance)), (1, why));
        }
    }

    #[test]
    fn what_happened_once_more_for_no_reason_is_a_problem() {
        let (first, second) = (record(Status::Succeeded, 1), record(Status::Succeeded, 2));
        let twice = history(vec![run(1, End::Ok), run(2, End::Ok)]);
        let once = || history(vec![run(1, End::Ok)]);
        let problem_of = |history: &History, record: &Record, ends| {
            problem(&balance(Design::Steady, history, Some(record), ends)).to_owned()
        };
        assert_eq!(problem_of(&twice, &second, 1), "nothing explains its run worker-0.1#2");
        assert_eq!(problem_of(&once(), &first, 2), "it ended twice");
        assert_eq!(problem_of(&History { created: 2, ..once() }, &first, 1), "one id made two tasks");
        assert_eq!(problem_of(&once(), &second, 1), "its result is of no run that returned it");
        assert_eq!(problem_of(&once(), &record(Status::DeadLettered, 1), 1), "it was to end otherwise");
        assert_eq!(problem_of(&once(), &record(Status::Cancelled, 1), 1), "nobody called it off");
        let cancelled = Some((SECOND, CancelAnswer::Cancelled));
        let called_off = History { cancelling: Some(SECOND), cancel: cancelled, ..once() };
        assert_eq!(problem_of(&called_off, &record(Status::Cancelled, 1), 1), "it ran after it was called off");
    }
}
