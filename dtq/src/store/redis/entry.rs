//! The value of a stream entry: `<uuid><meta> <task>`, a line break, and the payload. Written here and in `lua/record.lua`.

use std::io::Write;

use bytes::Bytes;
use uuid::Uuid;

/// The length of a uuid's text.
pub(super) const UUID: usize = 36;

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

/// Writes the name of a task's record to a buffer.
pub(super) fn write_name(mut out: impl Write, root: &str, uuid: Uuid) {
    // Writing to a buffer cannot fail.
    let _ = out.write_all(root.as_bytes());
    write_uuid(&mut out, uuid);
}

fn write_uuid(out: &mut impl Write, uuid: Uuid) {
    let _ = out.write_all(uuid.hyphenated().encode_lower(&mut [0; UUID]).as_bytes());
}

/// How long the value of an entry is with so many bytes of payload.
pub(super) fn length(meta: &str, task: &str, payload: usize) -> usize {
    UUID + meta.len() + 1 + task.len() + 1 + payload
}

/// Writes the value of an entry to a buffer.
pub(super) fn write(mut out: impl Write, uuid: Uuid, meta: &str, task: &str, payload: &[u8]) {
    write_uuid(&mut out, uuid);
    for part in [meta.as_bytes(), b" ", task.as_bytes(), b"\n", payload] {
        let _ = out.write_all(part);
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
