//! `schedule list`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::output::{Cell, Paint, Table, instant, number, prose, raw, relative, word};
use crate::cli::session::Session;
use crate::client::ScheduleInfo;
use crate::types::{Origin, QueueName, Timestamp, Timing};

/// Which schedules to list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct List {
    /// Only of this queue; may be given more than once [default: all]
    #[arg(long, value_name = "QUEUE")]
    queue: Vec<QueueName>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let schedules = match self.queue.as_slice() {
            [] => session.client.schedules().list().await?,
            named => {
                let mut found = Vec::new();
                for queue in session.queues(named).await? {
                    found.extend(session.client.schedules().of_queue(&queue).await?);
                }
                found
            }
        };
        if self.json {
            return schedules.iter().try_for_each(|info| session.out.json(&shape(info)));
        }
        let table = table(&schedules, session.now().await?);
        session.out.table(&table, "there is no schedule")
    }
}

fn table(schedules: &[ScheduleInfo], now: Timestamp) -> Table {
    let headings =
        [word("schedule"), word("task"), word("next"), word("last"), number("made"), word("from"), prose("comes")];
    let mut table = Table::new(&headings);
    for info in schedules {
        let (schedule, spec) = (&info.schedule, &info.schedule.spec);
        let next = match info.next {
            _ if schedule.paused => Cell::painted("paused", Paint::Busy),
            _ if !schedule.declared => Cell::painted("in no worker's code", Paint::Busy),
            Some(next) => instant(next, now).into(),
            None => "never".into(),
        };
        table.row([
            (&spec.id).into(),
            (&spec.task).into(),
            next,
            schedule.last.map(|last| relative(last, now)).unwrap_or_default().into(),
            schedule.fired.into(),
            origin(schedule.origin).into(),
            (&info.words).into(),
        ]);
    }
    table
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Code => "code",
        Origin::Client => "client",
    }
}

fn shape(info: &ScheduleInfo) -> impl serde::Serialize {
    let (schedule, spec) = (&info.schedule, &info.schedule.spec);
    let (cron, zone, every) = match &spec.timing {
        Timing::Cron { expression, zone } => (Some(expression), Some(zone), None),
        Timing::Every(interval) => (None, None, Some(u64::try_from(interval.as_millis()).unwrap_or(u64::MAX))),
    };
    let rest = json!({
        "id": spec.id.to_string(),
        "queue": spec.id.queue().as_str(),
        "task": spec.task,
        "words": info.words,
        "cron": cron,
        "tz": zone,
        "every_ms": every,
        "missed": spec.missed.as_str(),
        "overlap": spec.overlap.as_str(),
        "origin": origin(schedule.origin),
        "paused": schedule.paused,
        "declared": schedule.declared,
        "next": info.next.map(|at| at.to_string()),
        "last": schedule.last.map(|at| at.to_string()),
        "last_task": schedule.last_task,
        "fired": schedule.fired,
        "passed": schedule.passed,
    });
    Shape { rest, payload: raw(&spec.payload) }
}

/// The arguments stay exact beside the rest.
#[derive(serde::Serialize)]
struct Shape {
    #[serde(flatten)]
    rest: Value,
    payload: Box<serde_json::value::RawValue>,
}
