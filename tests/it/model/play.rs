//! Plays a sequence on a subject and on the model, and compares after each verb.

use std::collections::BTreeSet;
use std::fmt::Debug;

use dtq::types::Status::Queued;

use super::answers::{Answer, Seen, Step};
use super::pure::Model;
use super::report;
use super::subject::Subject;
use super::verbs::{ALL, QUEUES, Verb};

/// Where they part, with all that led to it.
pub(super) type Disagreement = String;

/// A sequence under way.
#[derive(Default)]
struct Play {
    model: Model,
    /// The queue of every task that was named, by number: an id keeps its queue.
    queues: Vec<usize>,
    story: Vec<String>,
}

/// Plays verbs until the end or the first difference; gives the number of those that meant something.
pub(super) fn play(verbs: &[Verb], subject: &mut impl Subject) -> Result<usize, Disagreement> {
    let mut play = Play::default();
    let mut played = 0;
    for verb in verbs {
        if let Some(step) = play.resolve(verb) {
            play.compare(&step, subject).map_err(|what| play.report(&what))?;
            played += 1;
        }
    }
    Ok(played)
}

impl Play {
    /// Finds out which tasks and leases a verb means; `None` when there are none.
    fn resolve(&mut self, verb: &Verb) -> Option<Step> {
        Some(match verb {
            Verb::Enqueue(tasks) => {
                let mut resolved = vec![];
                for (known, new) in tasks {
                    let mut new = new.clone();
                    let number = known.and_then(|back| latest(self.queues.len(), back)).unwrap_or(self.queues.len());
                    match self.queues.get(number) {
                        Some(&queue) => new.queue = queue,
                        None => self.queues.push(new.queue),
                    }
                    resolved.push((number, new));
                }
                Step::Enqueue(resolved)
            }
            Verb::Claim(wish) => {
                let mut wish = wish.clone();
                // Which of the lost and the overdue tasks that find no room any more are looked at is a store's choice.
                let (lost, waiting) = (self.model.lapsed(wish.queue), self.model.of_status(wish.queue, Queued));
                if !lost.is_empty() || waiting.iter().any(|&number| self.model.is_overdue(number)) {
                    wish.max = ALL;
                }
                Step::Claim(wish)
            }
            Verb::Settle(ends) => Step::Settle(
                ends.iter().map(|&(back, end)| Some((self.grant(back)?, end))).collect::<Option<Vec<_>>>()?,
            ),
            Verb::Renew { worker, leases, lease } => {
                let leases = leases.iter().map(|&back| self.grant(back)).collect::<Option<Vec<_>>>()?;
                let worker = worker.unwrap_or(self.model.grants[leases[0]].worker);
                Step::Renew { worker, leases, lease: *lease }
            }
            Verb::Cancel(back) => Step::Cancel(latest(self.queues.len(), *back)?),
            Verb::Pause(queue, pause) => Step::Pause { queue: *queue, pause: *pause },
            Verb::Purge(queue) => Step::Purge(*queue),
            Verb::Steer(back, hand) => Step::Steer(latest(self.queues.len(), *back)?, *hand),
            Verb::Advance(ticks) => Step::Advance(*ticks),
            Verb::Reopen => Step::Reopen,
        })
    }

    fn grant(&self, back: usize) -> Option<usize> {
        latest(self.model.grants.len(), back)
    }

    fn compare(&mut self, step: &Step, subject: &mut impl Subject) -> Result<(), String> {
        let leases = self.model.grants.len();
        self.story.push(report::step(step, &self.model));
        let answer = subject.call(step)?;
        if answer != Answer::Nothing {
            self.story.push(format!("    -> {}", report::answer(&answer, leases)));
        }
        let watched = self.watched(step);
        let expected = self.model.call(step, Some(&answer));
        if answer != expected {
            let expected = report::answer(&expected, leases);
            return Err(format!("the model says\n    -> {expected}"));
        }
        let (seen, expected) = (subject.look(&watched)?, self.model.seen(&watched));
        if seen == expected { Ok(()) } else { Err(difference(&seen, &expected)) }
    }

    /// The tasks to look at after a step: those that are not finished and those that it names; after the clock moved,
    /// all. That is often enough for the finished ones, which may only be forgotten.
    fn watched(&self, step: &Step) -> Vec<usize> {
        let named: Vec<usize> = match step {
            Step::Advance(_) | Step::Reopen => (0..self.queues.len()).collect(),
            Step::Enqueue(tasks) => tasks.iter().map(|&(number, _)| number).collect(),
            Step::Settle(ends) => ends.iter().map(|&(grant, _)| self.model.grants[grant].task).collect(),
            Step::Cancel(number) | Step::Steer(number, _) => vec![*number],
            Step::Claim(_) | Step::Renew { .. } | Step::Pause { .. } | Step::Purge(_) => vec![],
        };
        let mut watched = self.model.unfinished();
        watched.extend(named);
        watched.sort_unstable();
        watched.dedup();
        watched
    }

    fn report(&self, what: &str) -> Disagreement {
        format!("{}\n{what}", self.story.join("\n"))
    }
}

/// The number of the `back`th latest of so many, or of the first one.
fn latest(count: usize, back: usize) -> Option<usize> {
    (count > 0).then(|| (count - 1).saturating_sub(back))
}

/// Names what differs, and nothing else.
fn difference(seen: &Seen, expected: &Seen) -> String {
    let mut all = vec![];
    for (number, expected) in &expected.tasks {
        all.extend(pair(&format!("task {number}"), seen.tasks.get(number), Some(expected)));
    }
    let told: BTreeSet<_> = seen.events.keys().chain(expected.events.keys()).collect();
    for number in told {
        let what = format!("events of task {number}");
        all.extend(pair(&what, seen.events.get(number), expected.events.get(number)));
    }
    for (queue, name) in QUEUES.iter().enumerate() {
        all.extend(pair(&format!("counts of {name}"), seen.stats.get(queue), expected.stats.get(queue)));
        let letters = (seen.dead_letters.get(queue), expected.dead_letters.get(queue));
        all.extend(pair(&format!("dead letters of {name}"), letters.0, letters.1));
    }
    all.join("\n")
}

fn pair<T: Debug + PartialEq>(what: &str, seen: Option<&T>, expected: Option<&T>) -> Option<String> {
    let told = |it: Option<&T>| it.map_or("nothing".to_owned(), |it| format!("{it:?}"));
    let report = || format!("{what}:\n    is             {}\n    the model says {}", told(seen), told(expected));
    (seen != expected).then(report)
}
