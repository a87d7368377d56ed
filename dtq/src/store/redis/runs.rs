//! Tasks that are accepted in one step, written as runs: those that follow each other and differ in little share the rest.

use redis::{Cmd, RedisWrite};

use super::{entry, record};
use crate::types::{Deferral, Idempotency, NewTask, OnConflict, ROW_MARK, Unique, Until};

/// How the uuids of a row differ: in their last byte.
const BEGINS: usize = 15;
/// The letters before those of the last byte.
const BEGINNING: usize = 34;

/// Writes the tasks at `places` as arguments of `lua/enqueue.lua`. `root` begins the names of records.
pub(super) fn write(call: &mut Cmd, root: &str, tasks: &[NewTask], places: &[usize]) {
    let alike = |a: &usize, b: &usize| {
        let (a, b) = (&tasks[*a], &tasks[*b]);
        (a.priority, a.deferral, &a.task, &a.policy, has_keys(a))
            == (b.priority, b.deferral, &b.task, &b.policy, has_keys(b))
    };
    for run in places.chunk_by(alike) {
        let first = &tasks[run[0]];
        if has_keys(first) || first.deferral != Deferral::None {
            write_run(call, tasks, run);
        } else {
            write_rows(call, root, tasks, run);
        }
    }
}

/// Writes tasks that are ready at once: those whose uuids stand in a row as such, those between as they are.
fn write_rows(call: &mut Cmd, root: &str, tasks: &[NewTask], run: &[usize]) {
    let bytes = |place: &usize| tasks[*place].id.uuid().into_bytes();
    let is_marked = |place: &usize| bytes(place)[BEGINS - 1] == ROW_MARK;
    let next = |a: &usize, b: &usize| {
        let (first, second) = (bytes(a), bytes(b));
        is_marked(a) && first[..BEGINS] == second[..BEGINS] && first[BEGINS].checked_add(1) == Some(second[BEGINS])
    };
    // Either a row, or tasks that stand in none.
    for part in run.chunk_by(|a, b| next(a, b) || !is_marked(a) && !is_marked(b)) {
        let in_row = is_marked(&part[0]);
        call.arg(if in_row { "b" } else { "s" });
        write_ready(call, root, tasks, part);
        if in_row {
            let begins = tasks[part[0]].id.uuid().to_string();
            let ends: String = part.iter().map(|place| format!("{:02x}", bytes(place)[BEGINS])).collect();
            call.arg(&begins[..BEGINNING]).arg(bytes(&part[0])[BEGINS]).arg(ends);
        }
    }
}

/// Writes the names of the records and the values of the entries of tasks that are ready at once.
fn write_ready(call: &mut Cmd, root: &str, tasks: &[NewTask], part: &[usize]) {
    let NewTask { priority, task, policy, .. } = &tasks[part[0]];
    let meta = record::meta(policy, None, "");
    call.arg(priority.level()).arg(part.len());
    call.reserve_space_for_args(part.iter().map(|_| root.len() + entry::UUID));
    for &place in part {
        entry::write_name(call.writer_for_next_arg(), root, tasks[place].id.uuid());
    }
    let length = |place: &usize| entry::length(&meta, task, tasks[*place].payload.len());
    // With room for what stands behind a row: else that would double the buffer.
    call.reserve_space_for_args(part.iter().map(length).chain([BEGINNING + 3, 2 * part.len()]));
    for &place in part {
        entry::write(call.writer_for_next_arg(), tasks[place].id.uuid(), &meta, task, &tasks[place].payload);
    }
}

/// The other kinds.
fn write_run(call: &mut Cmd, tasks: &[NewTask], run: &[usize]) {
    let NewTask { priority, deferral, task, policy, .. } = &tasks[run[0]];
    let keyed = has_keys(&tasks[run[0]]);
    call.arg(if keyed { "k" } else { "" }).arg(priority.level()).arg(due(*deferral));
    call.arg(task).arg(record::meta(policy, None, "")).arg(run.len());
    for &place in run {
        call.arg(tasks[place].id.uuid().to_string());
    }
    for &place in run {
        call.arg(&tasks[place].payload[..]);
        if keyed {
            write_keys(call, &tasks[place]);
        }
    }
}

fn has_keys(task: &NewTask) -> bool {
    task.idempotency.is_some() || task.unique.is_some()
}

fn write_keys(call: &mut Cmd, task: &NewTask) {
    match &task.idempotency {
        // At zero the server would refuse it; a millisecond is as good.
        Some(Idempotency { key, keep }) => call.arg(record::millis(*keep).max(1)).arg(key),
        None => call.arg("").arg(""),
    };
    let Some(Unique { key, until, on_conflict }) = &task.unique else {
        call.arg("").arg("").arg("").arg("");
        return;
    };
    match until {
        Until::Started => call.arg("s").arg(""),
        Until::Finished => call.arg("f").arg(""),
        Until::Period(period) => call.arg("p").arg(record::millis(*period).max(1)),
    };
    call.arg(format!("{}/{key}", task.task)).arg(match on_conflict {
        OnConflict::Skip => "s",
        OnConflict::Replace => "r",
        OnConflict::Reschedule => "d",
        OnConflict::Error => "e",
    });
}

fn due(deferral: Deferral) -> String {
    match deferral {
        Deferral::None => String::new(),
        Deferral::After(delay) => format!("a{}", record::millis(delay)),
        Deferral::At(at) => format!("@{}", record::instant(at)),
    }
}
