//! From what a server holds to messages, and back to copies of them.

use bytes::Bytes;
use uuid::Uuid;

use super::frame;
use crate::types::{Incoming, StreamForm, header};

/// Headers by name, in order.
pub(super) type Headers = Vec<(String, Bytes)>;

/// A message out of a stream's entry.
pub(super) fn of_entry(form: &StreamForm, id: String, all: Vec<(Bytes, Bytes)>, deliveries: u32) -> Incoming {
    let (mut headers, mut fields) = (Vec::new(), Vec::new());
    for (name, value) in all {
        match header_name(form.headers, &name) {
            Some(header) => headers.push((header, value)),
            None => fields.push((name, value)),
        }
    }
    let payload = match fields.as_slice() {
        [(_, only)] => Some(only.clone()),
        _ => fields.iter().find(|(name, _)| name == form.payload.as_bytes()).map(|(_, value)| value.clone()),
    };
    let (source, id) = (form.key.to_owned(), Some(id));
    Incoming { source, id, headers, fields, payload, raw: Bytes::new(), deliveries }
}

/// A message out of a list's or a channel's value.
pub(super) fn of_value(source: String, raw: Bytes) -> Incoming {
    let (headers, payload) = frame::decode(&raw);
    Incoming { source, headers, payload: Some(payload), raw, deliveries: 1, ..Incoming::default() }
}

/// A field is a header when its name begins with the prefix and goes on after it, as text.
fn header_name(prefix: &str, field: &[u8]) -> Option<String> {
    let name = field.strip_prefix(prefix.as_bytes()).filter(|name| !name.is_empty())?;
    std::str::from_utf8(name).ok().map(str::to_owned)
}

/// The names and values of a copy of an entry with these headers.
pub(super) fn entry(form: &StreamForm, message: &Incoming, headers: &Headers) -> Vec<Bytes> {
    let fields = message.fields.iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
    let headers =
        headers.iter().flat_map(|(name, value)| [Bytes::from(format!("{}{name}", form.headers)), value.clone()]);
    fields.chain(headers).collect()
}

/// A copy of a value with these headers.
pub(super) fn value(message: &Incoming, headers: &Headers) -> Bytes {
    frame::encode(headers, message.payload.as_ref().unwrap_or(&message.raw))
}

/// The headers of a copy for another attempt.
pub(super) fn again(message: &Incoming, counted: bool) -> Headers {
    // What the server counted of this entry is not known of the copy.
    let spent = message.attempt() - u32::from(!counted);
    let mut headers = message.headers.clone();
    if spent > 0 {
        put(&mut headers, header::RETRIES, spent.to_string());
    }
    keep_id(message, &mut headers);
    headers
}

/// The headers of a dead letter.
pub(super) fn dead(message: &Incoming, kind: &str, reason: &str) -> Headers {
    let mut headers = message.headers.clone();
    // For whoever reads dead letters it is a new message: its first attempt, and for every group.
    headers.retain(|(name, _)| name != header::RETRIES && name != header::GROUP);
    put(&mut headers, header::SOURCE, message.source.clone());
    put(&mut headers, header::KIND, kind.to_owned());
    put(&mut headers, header::REASON, reason.to_owned());
    put(&mut headers, header::ATTEMPTS, message.attempt().to_string());
    keep_id(message, &mut headers);
    headers
}

/// A copy tells which entry it was at first.
fn keep_id(message: &Incoming, headers: &mut Headers) {
    if let Some(id) = &message.id
        && message.header(header::ID).is_none()
    {
        put(headers, header::ID, id.clone());
    }
}

/// Sets a header, once.
pub(super) fn put(headers: &mut Headers, name: &str, value: String) {
    headers.retain(|(key, _)| key != name);
    headers.push((name.to_owned(), value.into()));
}

/// A member of a set of delayed copies: netstrings, of which the first makes equal copies different ones.
pub(super) fn delayed(parts: &[Bytes]) -> Bytes {
    let unique = Bytes::from(Uuid::now_v7().simple().to_string());
    let mut out = Vec::new();
    for part in std::iter::once(&unique).chain(parts) {
        out.extend_from_slice(format!("{}:", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.push(b',');
    }
    out.into()
}

/// The parts of such a member; `None` when it is none.
pub(super) fn parts(member: &Bytes) -> Option<Vec<Bytes>> {
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < member.len() {
        let colon = at + member[at..].iter().position(|byte| *byte == b':')?;
        let size: usize = std::str::from_utf8(&member[at..colon]).ok()?.parse().ok()?;
        let end = colon.checked_add(1)?.checked_add(size).filter(|end| member.get(*end) == Some(&b','))?;
        parts.push(member.slice(colon + 1..end));
        at = end + 1;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&'static str, &'static str)]) -> Incoming {
        let fields = fields.iter().map(|(name, value)| (Bytes::from(*name), Bytes::from(*value))).collect();
        of_entry(&StreamForm::new("s", "g"), "1-1".into(), fields, 1)
    }

    #[test]
    fn the_payload_is_the_only_field_or_the_one_of_that_name() {
        assert_eq!(read(&[("data", "x"), ("h:trace", "7")]).payload, Some("x".into()));
        assert_eq!(read(&[("a", "x"), ("payload", "y")]).payload, Some("y".into()));
        assert_eq!(read(&[("a", "x"), ("b", "y")]).payload, None);
        assert_eq!(read(&[("h:", "x")]).payload, Some("x".into()), "a prefix alone is no header");
    }

    #[test]
    fn a_copy_keeps_fields_and_headers_and_tells_its_number_and_its_first_id() {
        let form = StreamForm::new("s", "g");
        let first = read(&[("a", "x"), ("b", "y"), ("h:trace", "7")]);
        let copy = entry(&form, &first, &again(&first, true));
        let text = copy.iter().map(|part| String::from_utf8(part.to_vec()).unwrap()).collect::<Vec<_>>().join(" ");
        assert_eq!(text, "a x b y h:trace 7 h:dtq-retries 1 h:dtq-id 1-1");
        assert!(!again(&first, false).iter().any(|(name, _)| name == header::RETRIES));
    }

    #[test]
    fn equal_copies_are_different_members() {
        let parts = [Bytes::from("a,b"), Bytes::new()];
        let member = delayed(&parts);
        assert!(member.ends_with(b",3:a,b,0:,") && member.starts_with(b"32:"), "{member:?}");
        assert_ne!(member, delayed(&parts));
        assert_eq!(super::parts(&member).unwrap()[1..], parts);
        for wrong in ["3:ab,", "x:a,", "1:a", "18446744073709551615:a,", "12"] {
            assert!(super::parts(&wrong.into()).is_none(), "{wrong}");
        }
    }
}
