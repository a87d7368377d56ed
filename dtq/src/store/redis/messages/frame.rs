//! Headers of messages in lists and channels, which know none. A value without headers is its payload and nothing else,
//! as foreign producers write it. One with headers is text before the payload:
//!
//! ```text
//! dtq/1
//! dtq-retries: 1
//! trace: 7f3a
//!
//! {"order":17}
//! ```
//!
//! In names and values `%`, control characters and (in names) `:` are written as `%` and two hexadecimal digits.

use bytes::{BufMut, Bytes, BytesMut};

const MAGIC: &[u8] = b"dtq/1\n";

/// A value of this payload and these headers.
pub(super) fn encode(headers: &[(String, Bytes)], payload: &Bytes) -> Bytes {
    // A payload that looks like a frame is put into one, so that it comes out as it went in.
    if headers.is_empty() && !payload.starts_with(MAGIC) {
        return payload.clone();
    }
    let mut out = BytesMut::from(MAGIC);
    for (name, value) in headers {
        escape(name.as_bytes(), b':', &mut out);
        out.put_slice(b": ");
        escape(value, b'%', &mut out);
        out.put_u8(b'\n');
    }
    out.put_u8(b'\n');
    out.put_slice(payload);
    out.freeze()
}

/// The headers and the payload of a value. What is no frame is a payload.
pub(super) fn decode(raw: &Bytes) -> (Vec<(String, Bytes)>, Bytes) {
    framed(raw).unwrap_or_else(|| (Vec::new(), raw.clone()))
}

fn framed(raw: &Bytes) -> Option<(Vec<(String, Bytes)>, Bytes)> {
    let mut headers = Vec::new();
    let mut at = raw.starts_with(MAGIC).then_some(MAGIC.len())?;
    loop {
        let end = at + raw[at..].iter().position(|byte| *byte == b'\n')?;
        let line = &raw[at..end];
        at = end + 1;
        if line.is_empty() {
            return Some((headers, raw.slice(at..)));
        }
        let colon = line.windows(2).position(|pair| pair == b": ")?;
        let name = String::from_utf8(unescape(&line[..colon])?).ok()?;
        headers.push((name, unescape(&line[colon + 2..])?.into()));
    }
}

fn escape(bytes: &[u8], also: u8, out: &mut BytesMut) {
    for byte in bytes {
        if *byte == b'%' || *byte == also || byte.is_ascii_control() {
            out.put_slice(format!("%{byte:02X}").as_bytes());
        } else {
            out.put_u8(*byte);
        }
    }
}

fn unescape(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        out.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &'static [u8]) -> (String, Bytes) {
        (name.to_owned(), Bytes::from_static(value))
    }

    #[test]
    fn a_value_without_headers_is_its_payload() {
        let payload = Bytes::from_static(b"{\"order\":17}");
        assert_eq!(encode(&[], &payload), payload);
        assert_eq!(decode(&payload), (Vec::new(), payload));
    }

    #[test]
    fn headers_and_payloads_come_back_as_they_were() {
        let headers = [header("a: b%", b"x: y\n%"), header("\u{e9}", "\u{e9}".as_bytes()), header("bin", b"\0\xff\r")];
        for payload in [&b"plain"[..], b"", b"\n\n", b"dtq/1\nnot: ours", b"\0\xff\n"] {
            let payload = Bytes::copy_from_slice(payload);
            for headers in [&headers[..], &[]] {
                let (found, body) = decode(&encode(headers, &payload));
                assert_eq!((found.as_slice(), &body), (headers, &payload));
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_frame_is_a_payload() {
        for raw in [&b"dtq/1\n"[..], b"dtq/1\nno colon\n\n", b"dtq/1\na: %4\n\n", b"dtq/1\na: %zz\n\n", b"dtq/1\na: 1"]
        {
            let raw = Bytes::copy_from_slice(raw);
            assert_eq!(decode(&raw), (Vec::new(), raw));
        }
    }
}
