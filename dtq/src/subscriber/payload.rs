//! What a handler may take as the payload of a message.

use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::message::Message;

/// What a handler may take as a message's payload: [`Json`], [`Fields`], `String`, `Bytes` or `Vec<u8>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the payload of a subscriber",
    label = "not a kind of payload",
    note = "take `Json<{Self}>` for JSON (the type must be `Deserialize`), or `String`, `dtq::Bytes`, `Vec<u8>`",
    note = "take `Fields` for all fields of a stream's entry"
)]
pub trait FromMessage: Sized {
    /// The payload as this type.
    ///
    /// # Errors
    /// What does not fit, in words. The message then becomes a dead letter.
    fn from_message(message: &Message) -> Result<Self, String>;
}

/// A payload that is JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Json<T>(pub T);

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// What stands in a [`Json`]. A trait of our own, so that the compiler speaks of messages when a type is none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a message's JSON: it must be `Deserialize`",
    label = "this type and all inside it must be `Deserialize`, and own what they hold",
    note = "derive it: `#[derive(serde::Deserialize)]`"
)]
pub trait FromJson: Sized {
    /// The value that the JSON is of.
    ///
    /// # Errors
    /// What does not fit.
    fn from_json(json: &[u8]) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromJson for T {
    fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }
}

impl<T: FromJson> FromMessage for Json<T> {
    fn from_message(message: &Message) -> Result<Self, String> {
        T::from_json(bytes(message)?).map(Self).map_err(|error| error.to_string())
    }
}

impl FromMessage for Bytes {
    fn from_message(message: &Message) -> Result<Self, String> {
        bytes(message).cloned()
    }
}

impl FromMessage for Vec<u8> {
    fn from_message(message: &Message) -> Result<Self, String> {
        bytes(message).map(|bytes| bytes.to_vec())
    }
}

impl FromMessage for String {
    fn from_message(message: &Message) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes(message)?).map_err(|error| format!("the payload is not text: {error}"));
        text.map(str::to_owned)
    }
}

/// For a handler that takes no payload.
impl FromMessage for () {
    fn from_message(_: &Message) -> Result<Self, String> {
        Ok(())
    }
}

fn bytes(message: &Message) -> Result<&Bytes, String> {
    message.payload().ok_or_else(|| {
        let names: Vec<_> = message.fields().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        format!(
            "the entry has the fields {}, and none of them is the payload's: name it with .payload(\"..\"), or take Fields",
            names.join(", ")
        )
    })
}

/// All fields of a stream's entry that are no headers, in order. A name may stand there twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields {
    fields: Vec<(Bytes, Bytes)>,
}

impl Fields {
    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&Bytes> {
        self.fields.iter().find(|(key, _)| key == name.as_bytes()).map(|(_, value)| value)
    }

    /// The first value of that name, when it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.fields.iter().map(|(name, value)| (name, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

impl<N: Into<Bytes>, V: Into<Bytes>> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

impl FromMessage for Fields {
    fn from_message(message: &Message) -> Result<Self, String> {
        Ok(Self { fields: message.incoming().fields.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_says_what_does_not_fit() {
        let message = Message::detached(&b"{\"a\":"[..]);
        assert!(Json::<serde_json::Value>::from_message(&message).unwrap_err().contains("EOF"));
        assert_eq!(String::from_message(&message).unwrap(), "{\"a\":");
        let binary = Message::detached(&b"\xff"[..]);
        assert!(String::from_message(&binary).unwrap_err().contains("not text"));
        assert_eq!(Vec::from_message(&binary).unwrap(), b"\xff");
    }

    #[test]
    fn fields_are_found_by_name() {
        let fields: Fields = [("a", "1"), ("b", "2"), ("a", "3")].into_iter().collect();
        assert_eq!((fields.text("a"), fields.get("c"), fields.len()), (Some("1"), None, 3));
    }
}
