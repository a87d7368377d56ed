//! A task's arguments: how each gets into the stored JSON object, and out of it again.
//!
//! Generated code asks one trait here for each thing that it needs of an argument's type, so that a type which lacks it
//! is told of once, in words about tasks, at its own place. (For that the traits have no supertraits: the compiler would
//! tell of those instead.) Nothing here is generic over a whole task, so a program
//! with many tasks pays for few instances.

use std::fmt;

use bytes::Bytes;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::finite;

/// An argument that can be written into a payload and read from it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a task: it must be `Serialize` and `Deserialize`",
    label = "a task's arguments are stored, so this type and all inside it must be written and read",
    note = "derive it where the type is defined: `#[derive(serde::Serialize, serde::Deserialize)]`",
    note = "many crates do so for their types behind a feature named `serde`"
)]
pub trait Argument: Sized {
    /// Writes it as the field `name`.
    ///
    /// # Errors
    /// What the type's `Serialize` says, or what JSON cannot hold.
    fn write(&self, name: &'static str, to: &mut Fields) -> Result<(), Error>;

    /// Takes it out of `payload`; `names` are its name and its aliases.
    ///
    /// # Errors
    /// When it is missing (and not an [`Option`]), given twice, or of another type.
    fn take(payload: &mut Payload, names: &'static [&'static str]) -> Result<Self, Error>;

    /// The same, with `fallback` in place of what is missing.
    ///
    /// # Errors
    /// When it is given twice, or of another type.
    fn take_or(payload: &mut Payload, names: &'static [&'static str], fallback: fn() -> Self) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Argument for T {
    fn write(&self, name: &'static str, to: &mut Fields) -> Result<(), Error> {
        to.begin(name)?;
        let begin = to.json.len();
        serde_json::to_writer(&mut to.json, self)?;
        finite::check(self, &to.json[begin..]).map_err(|error| Error::custom(format!("argument `{name}`: {error}")))
    }

    fn take(payload: &mut Payload, names: &'static [&'static str]) -> Result<T, Error> {
        match payload.find(names)? {
            Some((name, value)) => parse(&value, &name),
            None => T::deserialize(Missing(names)),
        }
    }

    fn take_or(payload: &mut Payload, names: &'static [&'static str], fallback: fn() -> T) -> Result<T, Error> {
        match payload.find(names)? {
            Some((name, value)) => parse(&value, &name),
            None => Ok(fallback()),
        }
    }
}

/// An argument that a payload may lack.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument with `#[arg(default)]`: it has no `Default`",
    label = "what would a stored task without this argument get?",
    note = "implement `Default` for it, or take an `Option<{Self}>`, which is `None` when it is missing"
)]
pub trait Fallback {
    /// What takes its place.
    fn fallback() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> Fallback for T {
    fn fallback() -> T {
        T::default()
    }
}

/// An argument that can go to the thread on which its task runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a task: it is not `Send`",
    label = "a task runs on any thread, so its arguments must be `Send` and own what they hold",
    note = "take an owned type without `Rc`, raw pointers and cells of one thread, and build those in the body"
)]
pub trait Movable {
    /// Asks for it, and does nothing.
    fn assert() {}
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Movable for T {}

/// An object that is being written, field by field.
#[derive(Debug)]
pub struct Fields {
    json: Vec<u8>,
}

impl Fields {
    pub(crate) fn new() -> Self {
        Self { json: vec![b'{'] }
    }

    /// The name of the next field, and all that stands before it.
    fn begin(&mut self, name: &'static str) -> Result<(), Error> {
        if self.json.len() > 1 {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, name)?;
        self.json.push(b':');
        Ok(())
    }

    pub(crate) fn into_payload(mut self) -> Bytes {
        self.json.push(b'}');
        self.json.into()
    }
}

/// A stored object, taken apart into its fields.
#[derive(Debug)]
pub struct Payload(Vec<(String, Box<RawValue>)>);

impl Payload {
    /// Takes an object apart.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Error> {
        let mut from = serde_json::Deserializer::from_slice(json);
        let payload = from.deserialize_map(Object)?;
        from.end()?;
        Ok(payload)
    }

    /// The field that has one of these names.
    fn find(&mut self, names: &'static [&'static str]) -> Result<Option<(String, Box<RawValue>)>, Error> {
        let Some(at) = self.position(names) else { return Ok(None) };
        let field = self.0.swap_remove(at);
        match self.position(names) {
            None => Ok(Some(field)),
            Some(_) => Err(Error::duplicate_field(first(names))),
        }
    }

    fn position(&self, names: &[&str]) -> Option<usize> {
        self.0.iter().position(|(name, _)| names.contains(&name.as_str()))
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Payload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of arguments by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Payload(fields))
    }
}

fn parse<T: DeserializeOwned>(value: &RawValue, name: &str) -> Result<T, Error> {
    let told = |error: Error| Error::custom(format_args!("argument `{name}`: {error}"));
    serde_json::from_str(value.get()).map_err(told)
}

/// The argument's own name, which comes before its aliases.
fn first(names: &'static [&'static str]) -> &'static str {
    names.first().copied().unwrap_or_default()
}

/// Stands for a field that is not there: nothing but an `Option` comes of it.
struct Missing(&'static [&'static str]);

impl<'de> Deserializer<'de> for Missing {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::missing_field(first(self.0)))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str) -> Payload {
        Payload::parse(json.as_bytes()).unwrap()
    }

    fn take<T: Argument>(json: &str) -> Result<T, String> {
        T::take(&mut payload(json), &["order", "id"]).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_written_as_an_object() {
        let mut fields = Fields::new();
        17_u64.write("order", &mut fields).unwrap();
        "a\"b".to_owned().write("größe", &mut fields).unwrap();
        assert_eq!(fields.into_payload(), r#"{"order":17,"größe":"a\"b"}"#);
        assert_eq!(Fields::new().into_payload(), "{}");
    }

    #[test]
    fn an_argument_is_found_by_its_name_and_by_its_aliases() {
        assert_eq!(take::<u64>(r#"{"a":[],"order":17}"#), Ok(17));
        assert_eq!(take::<u64>(r#"{"id":18}"#), Ok(18));
        assert_eq!(take::<u128>(r#"{"order":340282366920938463463374607431768211455}"#), Ok(u128::MAX));
        assert_eq!(take::<i64>(r#"{"order":9007199254740993}"#), Ok(9_007_199_254_740_993));
    }

    #[test]
    fn what_is_missing_is_none_or_an_error() {
        assert_eq!(take::<Option<u8>>("{}"), Ok(None));
        assert_eq!(take::<Option<u8>>(r#"{"order":null}"#), Ok(None));
        assert_eq!(take::<u8>("{}"), Err("missing field `order`".into()));
        let mut empty = payload("{}");
        assert_eq!(<u8 as Argument>::take_or(&mut empty, &["order"], || 7).unwrap(), 7);
    }

    #[test]
    fn errors_name_the_argument() {
        let error = take::<u8>(r#"{"order":"x"}"#).unwrap_err();
        assert!(error.starts_with("argument `order`: invalid type: string \"x\", expected u8"), "{error}");
        for twice in [r#"{"order":1,"order":2}"#, r#"{"order":1,"id":2}"#] {
            assert_eq!(take::<u8>(twice), Err("duplicate field `order`".into()));
        }
        let error = Payload::parse(b"[1]").unwrap_err().to_string();
        assert!(error.contains("expected an object of arguments by name"), "{error}");
        assert!(Payload::parse(b"{} {}").unwrap_err().to_string().contains("trailing"));
    }
}
