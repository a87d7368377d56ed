//! A store, one task, and worker processes that freeze where they are told to.

use std::process::Command;
use std::time::Duration;

use dtq::Handle;
use dtq::types::{ErrorKind, EventKind, Status, TaskId};
use dtq_tests::{TaskBuilder, World, eventually, task};

use crate::program::{Desk, PATIENCE, Program};

/// Short leases, so that a killed worker's task comes back soon; one slot, so that a frozen worker takes no other task.
const WORKER: [&str; 4] = ["--lease", "1500ms", "--concurrency", "1"];

/// Longer than such a lease.
const PAST_THE_LEASE: Duration = Duration::from_secs(2);

/// What the store holds of tasks that have not ended, counted in its raw form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    /// Ready: entries that are not pending; queued rows.
    ready: i64,
    /// Claimed: entries that are pending; running rows.
    held: i64,
    /// On the schedule; pending or retrying rows.
    scheduled: i64,
}

pub(super) const NOTHING: Left = Left { ready: 0, held: 0, scheduled: 0 };
pub(super) const READY: Left = Left { ready: 1, ..NOTHING };
pub(super) const HELD: Left = Left { held: 1, ..NOTHING };
pub(super) const SCHEDULED: Left = Left { scheduled: 1, ..NOTHING };

/// Everything that can be seen of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    pub(super) status: Option<Status>,
    pub(super) attempt: u32,
    /// Attempts that ended without success.
    pub(super) failed: Vec<(u32, ErrorKind)>,
    pub(super) left: Left,
    pub(super) events: Vec<EventKind>,
    /// What its handler told.
    pub(super) told: Vec<String>,
}

/// What is expected to be seen, without failed attempts.
pub(super) fn view(status: Status, attempt: u32, left: Left, events: &[EventKind], told: &[&str]) -> View {
    let told = told.iter().map(ToString::to_string).collect();
    View { status: Some(status), attempt, failed: Vec::new(), left, events: events.to_vec(), told }
}

impl View {
    /// The same with these failed attempts.
    pub(super) fn failed(mut self, attempts: &[(u32, ErrorKind)]) -> Self {
        self.failed = attempts.to_vec();
        self
    }
}

/// A store that holds one task of interest.
pub(super) struct Scene<'w> {
    w: &'w World,
    pub(super) desk: Desk,
}

impl<'w> Scene<'w> {
    pub(super) fn on(w: &'w World) -> Self {
        Self { w, desk: Desk::new(w) }
    }

    /// Enqueues a task that acts as told.
    pub(super) async fn enqueue(&self, how: &str) -> Handle<u32> {
        self.enqueue_as("acts", how, |task| task).await
    }

    /// Enqueues a task of another kind, or with other options.
    pub(super) async fn enqueue_as(
        &self,
        name: &str,
        how: &str,
        with: impl Fn(TaskBuilder) -> TaskBuilder,
    ) -> Handle<u32> {
        let payload = serde_json::json!({ "folder": self.desk.folder.path(), "how": how }).to_string();
        let new = with(task(name).payload(payload)).build();
        let id = self.desk.client.enqueue_raw(vec![new]).await.unwrap()[0].id().clone();
        self.desk.client.handle(id)
    }

    fn command(&self) -> Command {
        let mut command = Program::command(&WORKER);
        command.env("DTQ_URL", &self.desk.url);
        command
    }

    /// A worker.
    pub(super) async fn worker(&self) -> Program {
        let program = Program::start(&mut self.command());
        program.logs("worker starts", 1).await;
        program
    }

    /// A worker that gives up what runs soon after it was told to stop, with a fail point.
    pub(super) fn hasty_worker(&self, point: &str) -> Program {
        Program::start(self.command().args(["--drain-timeout", "100ms"]).env("DTQ_FAIL_POINT", point))
    }

    /// Waits until every lease of now has run out and nobody has noticed: time is kept by a worker of another queue.
    pub(super) async fn leases_run_out_unnoticed(&self) {
        let clock = Program::start(self.command().args(["--queues", "elsewhere"]));
        let late = task("quick").queue("elsewhere").payload(r#"{"n":7}"#).delay(PAST_THE_LEASE).build();
        let handle = self.desk.client.enqueue_raw(vec![late]).await.unwrap().remove(0);
        handle.result(PATIENCE).await.unwrap();
        clock.kill();
    }

    /// A worker with a variable in its environment.
    pub(super) fn worker_with(&self, name: &str, value: &str) -> Program {
        Program::start(self.command().env(name, value))
    }

    /// A producer of the task with this id (and a worker after that), with a fail point or without one.
    pub(super) fn producer(&self, id: &TaskId, point: Option<&str>) -> Program {
        let mut command = self.command();
        command.env("E2E_ENQUEUE", id.to_string()).env("E2E_FOLDER", self.desk.folder.path());
        Program::start(command.envs(point.map(|point| ("DTQ_FAIL_POINT", point))))
    }

    /// A worker that has reached a fail point.
    pub(super) async fn worker_frozen_at(&self, point: &str) -> Program {
        let program = self.worker_with("DTQ_FAIL_POINT", point);
        reached(&program, point).await;
        program
    }

    /// Looks at the task.
    pub(super) async fn look(&self, id: &TaskId) -> View {
        let record = self.desk.client.get(id).await.unwrap();
        View {
            status: record.as_ref().map(|record| record.status),
            attempt: record.as_ref().map_or(0, |record| record.attempt),
            failed: record.iter().flat_map(|it| &it.attempts).map(|it| (it.number, it.failure.kind)).collect(),
            left: self.left(),
            events: self.desk.events(id).await,
            told: self.desk.told(),
        }
    }

    /// Asserts what can be seen of a task at this moment.
    pub(super) async fn assert_sees(&self, id: &TaskId, expected: View) {
        assert_eq!(self.look(id).await, expected);
    }

    /// Asserts what can be seen of a task once it has this status and any lease of before has run out.
    pub(super) async fn assert_ends(&self, id: &TaskId, expected: View) {
        let status = expected.status;
        eventually(&format!("it is {status:?}"), || async {
            (self.desk.client.get(id).await.unwrap().map(|record| record.status) == status).then_some(())
        })
        .await;
        self.desk.passes(PAST_THE_LEASE).await;
        self.assert_sees(id, expected).await;
    }

    fn left(&self) -> Left {
        if self.desk.url.starts_with("redis:") { self.left_on_redis() } else { self.left_on_sqlite() }
    }

    fn left_on_redis(&self) -> Left {
        let server = self.w.server();
        let stream = "dtq:{default}:stream:p5";
        // There is no group before the first claim.
        let held = match server.try_command::<redis::Value>(&["XPENDING", stream, "dtq"]) {
            Ok(redis::Value::Array(summary)) => redis::from_redis_value(summary[0].clone()).unwrap(),
            _ => 0,
        };
        let entries: i64 = server.command(&["XLEN", stream]);
        Left { ready: entries - held, held, scheduled: server.command(&["ZCARD", "dtq:{default}:schedule"]) }
    }

    fn left_on_sqlite(&self) -> Left {
        let file = rusqlite::Connection::open(self.w.file()).unwrap();
        let count = |codes: &str| {
            let sql = format!("SELECT count(*) FROM tasks WHERE status IN ({codes})");
            file.query_row(&sql, (), |row| row.get(0)).unwrap()
        };
        // The codes of `row.rs`: 2 pending, 3 queued, 4 running, 5 retrying.
        Left { ready: count("3"), held: count("4"), scheduled: count("2, 5") }
    }
}

/// Waits until a program has reached a fail point.
pub(super) async fn reached(program: &Program, point: &str) {
    let name = point.split([':', '=']).next().unwrap();
    program.logs(&format!("dtq: fail point {name}"), 1).await;
}
