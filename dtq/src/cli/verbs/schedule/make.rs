//! `schedule add` and `schedule change`.

use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use serde_json::json;

use super::explain;
use crate::cli::failure::{Done, Failure};
use crate::cli::filter::duration;
use crate::cli::output::absolute;
use crate::cli::session::Session;
use crate::cli::verbs::enqueue::CallArgs;
use crate::client::NewSchedule;
use crate::timetable::Timetable;
use crate::types::{Missed, Overlap, Timing};

/// The schedule.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("timetable").args(["cron", "every"]).required(true))]
pub(in crate::cli) struct Make {
    /// Its name, unique in the queue of its task
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    call: CallArgs,

    /// When it comes: minute, hour, day, month, day of the week, such as "30 2 * * *"
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "every")]
    cron: Option<String>,

    /// By the clocks of this zone, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = Timing::UTC, conflicts_with = "every")]
    tz: String,

    /// Or an interval, such as 15m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    every: Option<Duration>,

    /// Ticks that no worker was there for: are left out, are made up for by one task, or by one each up to a bound
    #[arg(long, value_enum, default_value_t = MissedArg::Once)]
    missed: MissedArg,

    /// A tick while the task of the one before is unfinished: makes a task all the same, or is passed over
    #[arg(long, value_enum, default_value_t = OverlapArg::Allow)]
    overlap: OverlapArg,

    /// Why: kept in the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    /// Answer with a JSON object
    #[arg(long)]
    json: bool,
}

/// The names of [`Missed`]. Without a help for each, so that the help of the verb stays short.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MissedArg {
    Skip,
    Once,
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OverlapArg {
    Allow,
    Skip,
}

impl Make {
    /// The task that it calls.
    pub(super) fn task(&self) -> &str {
        &self.call.task
    }

    /// Adds or changes it, and says when it comes.
    pub(super) async fn run(&self, session: &mut Session, change: bool) -> Done {
        let timetable = match (&self.cron, self.every) {
            (Some(expression), _) => Timetable::cron(expression, &self.tz),
            (None, every) => Timetable::every(every.unwrap_or_default()),
        };
        let timetable = timetable.map_err(Failure::usage)?;
        let words = timetable.to_string();
        let next = timetable.next_after(session.now().await?);
        let task = self.call.new_task(session).await?;
        let schedule = NewSchedule::of(&self.name, timetable, task).map_err(Failure::usage)?;
        let schedule = schedule.missed(self.missed()).overlap(self.overlap());
        let id = schedule.id().clone();
        let schedules = session.acting().schedules().because(&*self.reason);
        let done = match change {
            true => schedules.change(schedule).await,
            false => schedules.add(schedule).await.map(drop),
        };
        if let Err(error) = done {
            return Err(explain(session, error).await);
        }
        if self.json {
            let next = next.map(|at| at.to_string());
            return session.out.json(&json!({ "id": id.to_string(), "words": words, "next": next }));
        }
        let next = next.map(|at| format!("; next {}", absolute(at))).unwrap_or_default();
        session.out.line(&format!("{id}: {words}{next}"))
    }

    fn missed(&self) -> Missed {
        match self.missed {
            MissedArg::Skip => Missed::Skip,
            MissedArg::Once => Missed::Once,
            MissedArg::All => Missed::All,
        }
    }

    fn overlap(&self) -> Overlap {
        match self.overlap {
            OverlapArg::Allow => Overlap::Allow,
            OverlapArg::Skip => Overlap::Skip,
        }
    }
}
