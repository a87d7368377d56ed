//! Schedules as rows.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::errors::{Fault, Outcome};
use super::reader::View;
use super::txn::Step;
use crate::store::{Schedules, definition};
use crate::types::{Origin, QueueName, Schedule, ScheduleId, TaskId, Timestamp};

/// The columns that [`Plan::read`] reads.
const COLUMNS: &str =
    "seq, name, spec, payload, in_code, revision, paused, left_at, stamp, declared_until, since, next_at,
    look_at, last_at, last_task, fired, passed";

/// A row. Instants are milliseconds.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// `None` for one that is not stored yet.
    pub(super) seq: Option<i64>,
    pub(super) name: String,
    pub(super) spec: String,
    pub(super) payload: Bytes,
    pub(super) in_code: bool,
    pub(super) revision: i64,
    pub(super) paused: bool,
    pub(super) left_at: Option<i64>,
    pub(super) stamp: i64,
    pub(super) declared_until: i64,
    pub(super) since: i64,
    pub(super) next_at: Option<i64>,
    pub(super) look_at: Option<i64>,
    pub(super) last_at: Option<i64>,
    pub(super) last_task: Option<Uuid>,
    pub(super) fired: i64,
    pub(super) passed: i64,
}

impl Plan {
    /// One that says nothing yet. Its number has never been: one of this name may have been removed while somebody reckoned
    /// its ticks.
    pub(super) fn new(name: &str, now: Timestamp) -> Self {
        Self {
            seq: None,
            name: name.to_owned(),
            spec: String::new(),
            payload: Bytes::new(),
            in_code: false,
            revision: now.as_millis(),
            paused: false,
            left_at: None,
            stamp: 0,
            declared_until: 0,
            since: 0,
            next_at: None,
            look_at: None,
            last_at: None,
            last_task: None,
            fired: 0,
            passed: 0,
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let uuid = row.get_ref(14)?.as_blob_or_null()?.and_then(|bytes| Uuid::from_slice(bytes).ok());
        Ok(Self {
            seq: Some(row.get(0)?),
            name: row.get(1)?,
            spec: row.get(2)?,
            payload: Bytes::copy_from_slice(row.get_ref(3)?.as_blob()?),
            in_code: row.get(4)?,
            revision: row.get(5)?,
            paused: row.get(6)?,
            left_at: row.get(7)?,
            stamp: row.get(8)?,
            declared_until: row.get(9)?,
            since: row.get(10)?,
            next_at: row.get(11)?,
            look_at: row.get(12)?,
            last_at: row.get(13)?,
            last_task: uuid,
            fired: row.get(15)?,
            passed: row.get(16)?,
        })
    }

    /// True when it stands in code that a worker declares.
    pub(super) fn declared(&self, now: Timestamp) -> bool {
        self.in_code && now.as_millis() < self.declared_until
    }

    /// A new meaning, or a new beginning: the next tick is to be reckoned, by whoever claims next.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.revision += 1;
        self.since = now.as_millis();
        self.next_at = None;
        self.look_at = (!self.paused).then_some(self.since);
    }

    /// What it says; an error when that is of no form that this version knows.
    pub(super) fn schedule(&self, queue: &QueueName, now: Timestamp) -> Outcome<Schedule> {
        let id = ScheduleId::new(queue.clone(), &self.name).ok();
        let spec = id.and_then(|id| definition::read(id, &self.spec, self.payload.clone()));
        let spec = spec.ok_or_else(|| Fault::Data(format!("the schedule {:?} cannot be read", self.name)))?;
        let number = |number| u64::try_from(number).unwrap_or(0);
        Ok(Schedule {
            spec,
            origin: if self.in_code { Origin::Code } else { Origin::Client },
            revision: number(self.revision),
            paused: self.paused,
            declared: !self.in_code || (self.left_at.is_none() && self.declared(now)),
            since: Timestamp::from_millis(self.since),
            next: self.next_at.map(Timestamp::from_millis),
            last: self.last_at.map(Timestamp::from_millis),
            last_task: self.last_task.map(|uuid| TaskId::new(queue.clone(), uuid)),
            fired: number(self.fired),
            passed: number(self.passed),
        })
    }
}

impl Step<'_> {
    /// The schedule of that name.
    pub(super) fn plan(&self, name: &str) -> Outcome<Option<Plan>> {
        let sql = format!("SELECT {COLUMNS} FROM schedules WHERE queue = ?1 AND name = ?2");
        Ok(self.prepare(&sql)?.query_row(params![self.queue.id, name], Plan::read).optional()?)
    }

    /// Up to so many schedules that want to be looked at now.
    pub(super) fn plans_due(&self, most: i64) -> Outcome<Vec<Plan>> {
        let sql =
            format!("SELECT {COLUMNS} FROM schedules WHERE queue = ?1 AND look_at <= ?2 ORDER BY look_at LIMIT ?3");
        let params = params![self.queue.id, self.now.as_millis(), most];
        Ok(self.prepare(&sql)?.query_map(params, Plan::read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// How many schedules the queue has.
    pub(super) fn count_plans(&self) -> Outcome<i64> {
        Ok(self
            .prepare("SELECT count(*) FROM schedules WHERE queue = ?1")?
            .query_row([self.queue.id], |row| row.get(0))?)
    }

    /// Writes a schedule, new or not.
    pub(super) fn save_plan(&mut self, plan: &Plan) -> Outcome<()> {
        let sql =
            "INSERT OR REPLACE INTO schedules (seq, queue, name, spec, payload, in_code, revision, paused, left_at,
                       stamp, declared_until, since, next_at, look_at, last_at, last_task, fired, passed)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        self.prepare(sql)?.execute(params![
            plan.seq,
            self.queue.id,
            plan.name,
            plan.spec,
            &plan.payload[..],
            plan.in_code,
            plan.revision,
            plan.paused,
            plan.left_at,
            plan.stamp,
            plan.declared_until,
            plan.since,
            plan.next_at,
            plan.look_at,
            plan.last_at,
            plan.last_task.as_ref().map(|uuid| uuid.as_bytes().as_slice()),
            plan.fired,
            plan.passed,
        ])?;
        self.mind_ticks()
    }

    /// Forgets a schedule.
    pub(super) fn delete_plan(&mut self, plan: &Plan) -> Outcome<()> {
        self.prepare("DELETE FROM schedules WHERE seq = ?1")?.execute([plan.seq])?;
        self.mind_ticks()
    }

    /// Keeps the queue's row right, and tells those who wait when they would sleep too long.
    fn mind_ticks(&mut self) -> Outcome<()> {
        let sql = "SELECT min(look_at) FROM schedules WHERE queue = ?1";
        let first: Option<i64> = self.prepare(sql)?.query_row([self.queue.id], |row| row.get(0))?;
        if first.is_some_and(|first| self.queue.tick_at().is_none_or(|known| first < known)) {
            self.queue.wakes.all();
        }
        self.queue.set_tick_at(first);
        Ok(())
    }
}

/// A queue's schedules.
pub(super) fn list(view: &View<'_>, queue: &QueueName) -> Outcome<Schedules> {
    let schedules =
        plans(view.conn, queue)?.iter().map(|plan| plan.schedule(queue, view.now)).collect::<Outcome<_>>()?;
    Ok(Schedules { now: view.now, schedules })
}

fn plans(conn: &Connection, queue: &QueueName) -> Outcome<Vec<Plan>> {
    let sql =
        format!("SELECT {COLUMNS} FROM schedules WHERE queue = (SELECT id FROM queues WHERE name = ?1) ORDER BY name");
    Ok(conn.prepare_cached(&sql)?.query_map([queue.as_str()], Plan::read)?.collect::<rusqlite::Result<_>>()?)
}
