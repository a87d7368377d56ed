//! Sending messages to streams, lists and channels.

use bytes::Bytes;
use redis::{Cmd, Pipeline, Value};

use super::super::{link::Link, reply};
use super::frame;
use crate::store::messages::{Body, Destination, Outgoing, Published};
use crate::store::{Result, StoreError};

const OPERATION: &str = "publish";

/// Sends all of them in one round trip.
pub(super) async fn publish(link: &Link, messages: &[Outgoing], atomic: bool) -> Result<Vec<Published>> {
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let mut pipeline = Pipeline::with_capacity(messages.len());
    if atomic {
        pipeline.atomic();
    }
    for message in messages {
        let command = command(message).map_err(|detail| rejected(link, detail))?;
        pipeline.add_command(command);
    }
    let answers = link.run_all(OPERATION, &pipeline).await?;
    let read = |(answer, message): (Value, &Outgoing)| {
        published(answer, message).ok_or_else(|| link.corrupt(OPERATION, "an unexpected answer"))
    };
    answers.into_iter().zip(messages).map(read).collect()
}

fn rejected(link: &Link, detail: &str) -> StoreError {
    StoreError::Rejected { operation: OPERATION, store: link.address().to_owned(), detail: detail.to_owned() }
}

fn command(message: &Outgoing) -> Result<Cmd, &'static str> {
    let mut command = Cmd::new();
    match &message.to {
        Destination::Stream { key, payload, headers, max_len } => {
            command.arg("XADD").arg(key);
            if let Some(entries) = max_len {
                command.arg("MAXLEN").arg("~").arg(*entries);
            }
            command.arg("*");
            match &message.body {
                Body::Payload(bytes) => {
                    command.arg(payload).arg(bytes.as_ref());
                }
                Body::Fields(fields) if fields.is_empty() && message.headers.is_empty() => {
                    return Err("a stream's entry needs at least one field");
                }
                Body::Fields(fields) => fields.iter().for_each(|(name, value)| {
                    command.arg(name.as_ref()).arg(value.as_ref());
                }),
            }
            for (name, value) in &message.headers {
                command.arg(format!("{headers}{name}")).arg(value.as_ref());
            }
        }
        Destination::List { key } => {
            command.arg("LPUSH").arg(key).arg(value(message)?.as_ref());
        }
        Destination::Channel { name, sharded } => {
            command.arg(if *sharded { "SPUBLISH" } else { "PUBLISH" }).arg(name).arg(value(message)?.as_ref());
        }
    }
    Ok(command)
}

/// What a list or a channel takes: one value.
fn value(message: &Outgoing) -> Result<Bytes, &'static str> {
    match &message.body {
        Body::Payload(payload) => Ok(frame::encode(&message.headers, payload)),
        Body::Fields(_) => Err("only a stream's entry has fields: send one payload to a list or a channel"),
    }
}

fn published(answer: Value, message: &Outgoing) -> Option<Published> {
    let number = |answer: &Value| reply::int(answer).and_then(|number| u64::try_from(number).ok());
    match &message.to {
        Destination::Stream { .. } => reply::text(answer).map(Published::Entry),
        Destination::List { .. } => number(&answer).map(Published::Length),
        Destination::Channel { .. } => number(&answer).map(Published::Receivers),
    }
}
