//! The value of a stream entry: `<uuid><meta> <task>`, a line break, and the payload. Written here and in `lua/record.lua`.

use bytes::Bytes;
use uuid::Uuid;

/// The length of a uuid's text.
const UUID: usize = 36;

/// What an entry tells of its task.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) uuid: Uuid,
    pub(super) task: &'a str,
    pub(super) meta: &'a str,
    pub(super) payload: Bytes,
}

impl<'a> Envelope<'a> {
    pub(super) fn read(value: &'a Bytes) -> Option<Self> {
        let uuid = Uuid::try_parse_ascii(value.get(..UUID)?).ok()?;
        let end = UUID + value[UUID..].iter().position(|&byte| byte == b'\n')?;
        let (meta, task) = std::str::from_utf8(&value[UUID..end]).ok()?.split_once(' ')?;
        Some(Self { uuid, task, meta, payload: value.slice(end + 1..) })
    }
}

/// The name of a task's record.
pub(super) fn name(root: &str, uuid: Uuid) -> String {
    let mut name = String::with_capacity(root.len() + UUID);
    name.push_str(root);
    name.push_str(uuid.hyphenated().encode_lower(&mut [0; UUID]));
    name
}

/// Writes the value of an entry behind what is in `out`.
pub(super) fn write(out: &mut Vec<u8>, uuid: Uuid, meta: &str, task: &str, payload: &[u8]) {
    let mut text = [0; UUID];
    out.extend_from_slice(uuid.hyphenated().encode_lower(&mut text).as_bytes());
    for part in [meta.as_bytes(), b" ", task.as_bytes(), b"\n", payload] {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_survives_and_strangers_are_told_apart() {
        let uuid = Uuid::now_v7();
        for (meta, task, payload) in [("", "a", ""), ("x9n7", "mod::task name", "two\nlines \u{ff}"), ("k0", "t", "\n")]
        {
            let mut value = Vec::new();
            write(&mut value, uuid, meta, task, payload.as_bytes());
            let value = Bytes::from(value);
            let payload = Bytes::copy_from_slice(payload.as_bytes());
            assert_eq!(Envelope::read(&value), Some(Envelope { uuid, task, meta, payload }));
        }
        for stranger in
            ["", "bar", "0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e", "0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6ek0 task"]
        {
            assert_eq!(Envelope::read(&Bytes::from_static(stranger.as_bytes())), None, "{stranger}");
        }
    }
}
