//! Work that is done at most once per key.

use redis::{Cmd, Value};

use super::RedisStore;
use super::claim::Token;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::{SCRIPTS, Script};
use crate::store::{OnceEnd, OnceRequest, OnceState, Result};
use crate::types::Lease;

const BEGIN: &str = "begin_once";
const END: &str = "end_once";

pub(super) async fn begin(store: &RedisStore, request: &OnceRequest) -> Result<OnceState> {
    let script = &SCRIPTS.begin_once;
    let call = call(store, script, &request.lease, &request.key, request.run);
    let answer = reply::bytes(store.link.eval(BEGIN, script, &call).await?);
    let state = answer.and_then(|answer| match answer.first()? {
        b'L' => Some(OnceState::Lost),
        b'B' => Some(OnceState::Busy),
        b'R' => Some(OnceState::Begun),
        b'd' => Some(OnceState::Done(answer.slice(1..))),
        _ => None,
    });
    state.ok_or_else(|| store.link.corrupt(BEGIN, "an unexpected answer of its script"))
}

pub(super) async fn end(store: &RedisStore, end: &OnceEnd) -> Result<bool> {
    let script = &SCRIPTS.end_once;
    let mut call = call(store, script, &end.lease, &end.key, end.run);
    if let Some((result, ttl)) = &end.done {
        // At zero the server would refuse it; a millisecond is as good.
        call.arg(record::millis(*ttl).max(1)).arg(result.as_ref());
    }
    Ok(matches!(store.link.eval(END, script, &call).await?, Value::Int(1)))
}

fn call(store: &RedisStore, script: &Script, lease: &Lease, key: &str, run: u64) -> Cmd {
    let token = Token::read(&lease.token);
    let mut call = Link::call(script, &store.keys.root(lease.task.queue()));
    call.arg(key).arg(lease.task.uuid().to_string()).arg(lease.attempt).arg(token.band).arg(token.entry).arg(run);
    call
}
