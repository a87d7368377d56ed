//! Taking a server's replies apart by moving, not copying. `None` means: not of the expected form.

use bytes::Bytes;
use redis::Value;

/// The elements of an array.
pub(super) fn list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// The elements of an array; a missing one is empty.
pub(super) fn list_or_nil(value: Value) -> Option<Vec<Value>> {
    if matches!(value, Value::Nil) { Some(Vec::new()) } else { list(value) }
}

/// An integer.
pub(super) fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

/// A binary string.
pub(super) fn bytes(value: Value) -> Option<Bytes> {
    match value {
        Value::BulkString(bytes) => Some(bytes.into()),
        _ => None,
    }
}

/// A string of text.
pub(super) fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

/// A stream entry: its id and its fields by name, in order.
pub(super) fn entry(value: Value) -> Option<(String, Vec<(String, Bytes)>)> {
    let mut parts = list(value)?.into_iter();
    let id = text(parts.next()?)?;
    let mut fields = Vec::new();
    let mut rest = list(parts.next()?)?.into_iter();
    while let (Some(name), Some(value)) = (rest.next(), rest.next()) {
        fields.push((text(name)?, bytes(value)?));
    }
    Some((id, fields))
}

/// The field of that name, as text.
pub(super) fn field(fields: &[(String, Bytes)], name: &str) -> Option<String> {
    let (_, value) = fields.iter().find(|(key, _)| key == name)?;
    String::from_utf8(value.to_vec()).ok()
}

/// A stream entry with names of fields that need not be text: its id, its fields in order, and what stands behind them.
pub(super) type Entry = (String, Vec<(Bytes, Bytes)>, Vec<Value>);

/// Reads one. `None` inside: an entry that was deleted while it was pending.
pub(super) fn any_entry(value: Value) -> Option<Option<Entry>> {
    let mut parts = list(value)?.into_iter();
    let id = text(parts.next()?)?;
    let Some(fields) = parts.next().filter(|fields| !matches!(fields, Value::Nil)) else { return Some(None) };
    let mut rest = list(fields)?.into_iter();
    let mut fields = Vec::with_capacity(rest.len() / 2);
    while let (Some(name), Some(value)) = (rest.next(), rest.next()) {
        fields.push((bytes(name)?, bytes(value)?));
    }
    Some(Some((id, fields, parts.collect())))
}
