//! What running attempts tell of themselves.

use redis::{Cmd, Value};

use super::RedisStore;
use super::claim::Token;
use super::link::Link;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{BATCH, Report, Result};

const OPERATION: &str = "report";

pub(super) async fn report(store: &RedisStore, reports: &[Report]) -> Result<Vec<bool>> {
    let mut answers = vec![false; reports.len()];
    let mut places: Vec<usize> = (0..reports.len()).collect();
    // Stable: reports of one task stay in order.
    places.sort_by_key(|&place| reports[place].lease.task.queue());
    for of_queue in places.chunk_by(|&a, &b| reports[a].lease.task.queue() == reports[b].lease.task.queue()) {
        for step in of_queue.chunks(BATCH) {
            let kept = send(store, reports, step).await?;
            step.iter().zip(kept).for_each(|(&place, kept)| answers[place] = kept);
        }
    }
    Ok(answers)
}

async fn send(store: &RedisStore, reports: &[Report], places: &[usize]) -> Result<Vec<bool>> {
    let script = &SCRIPTS.report;
    let mut call = Link::call(script, &store.keys.root(reports[places[0]].lease.task.queue()));
    call.arg(places.len());
    places.iter().for_each(|&place| write(&mut call, &reports[place]));
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let kept = reply::list(answer).filter(|answers| answers.len() == places.len());
    let kept = kept.ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))?;
    Ok(kept.iter().map(|answer| matches!(answer, Value::Int(1))).collect())
}

fn write(call: &mut Cmd, report: &Report) {
    let token = Token::read(&report.lease.token);
    call.arg(report.lease.task.uuid().to_string()).arg(report.lease.attempt).arg(token.band).arg(token.entry);
    match &report.progress {
        Some((done, message)) => call.arg(format!("{} {message}", done.millionths())),
        None => call.arg(""),
    };
    match &report.checkpoint {
        // Marked, since an empty one is one, too.
        Some(checkpoint) => call.arg([b"1", &checkpoint[..]].concat()),
        None => call.arg(""),
    };
    call.arg(report.first_line).arg(report.lines.len()).arg(&report.lines);
}
