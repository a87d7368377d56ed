//! A task's arguments: how each gets into the stored JSON object, and out of it again.
//!
//! Generated code asks one trait here for each thing that it needs of an argument's type, so that a type which lacks it
//! is told of once, in words about tasks, at its own place. (For that the traits have no supertraits: the compiler would
//! tell of those instead.) Nothing here is generic over a whole task, so a program
//! with many tasks pays for few instances.

use std::fmt;
use std::io;

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
    fn take(payload: &mut Payload<'_>, names: &'static [&'static str]) -> Result<Self, Error>;

    /// The same, with `fallback` in place of what is missing.
    ///
    /// # Errors
    /// When it is given twice, or of another type.
    fn take_or(
        payload: &mut Payload<'_>,
        names: &'static [&'static str],
        fallback: fn() -> Self,
    ) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Argument for T {
    fn write(&self, name: &'static str, to: &mut Fields) -> Result<(), Error> {
        to.begin(name)?;
        let begin = to.json.len();
        serde_json::to_writer(Roomy(&mut to.json), self)?;
        finite::check(self, &to.json[begin..]).map_err(|error| Error::custom(format!("argument `{name}`: {error}")))
    }

    fn take(payload: &mut Payload<'_>, names: &'static [&'static str]) -> Result<T, Error> {
        match payload.find(names)? {
            Found::Next(text) => payload.read(text),
            Found::Field(name, value) => parse(value, &name),
            Found::Nothing => T::deserialize(Missing(names)),
        }
    }

    fn take_or(payload: &mut Payload<'_>, names: &'static [&'static str], fallback: fn() -> T) -> Result<T, Error> {
        match payload.find(names)? {
            Found::Next(text) => payload.read(text),
            Found::Field(name, value) => parse(value, &name),
            Found::Nothing => Ok(fallback()),
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
    /// Where the object begins: others may stand before it.
    begin: usize,
}

impl Fields {
    /// Enough for most arguments, so that they are not moved while they grow.
    const ROOM: usize = 256;

    pub(crate) fn new() -> Self {
        Self::behind(Vec::with_capacity(Self::ROOM))
    }

    /// An object behind what was written before.
    pub(crate) fn behind(mut json: Vec<u8>) -> Self {
        let begin = json.len();
        json.push(b'{');
        Self { json, begin }
    }

    /// The name of the next field, and all that stands before it.
    fn begin(&mut self, name: &'static str) -> Result<(), Error> {
        if self.json.len() > self.begin + 1 {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, name)?;
        self.json.push(b':');
        Ok(())
    }

    /// The object, behind what was written before.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.json.push(b'}');
        self.json
    }

    pub(crate) fn into_payload(self) -> Bytes {
        self.end().into()
    }
}

/// Writes with room for what stands behind a value: else the last byte of a large one would double its buffer.
struct Roomy<'a>(&'a mut Vec<u8>);

impl io::Write for Roomy<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.0.capacity() - self.0.len() < bytes.len() {
            self.0.reserve(bytes.len() + Fields::ROOM);
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stored object, whose fields are taken out of it one by one.
#[derive(Debug)]
pub struct Payload<'a>(Form<'a>);

#[derive(Debug)]
enum Form<'a> {
    /// What is left of the text, as long as each field stands where it is asked for: so [`Fields`] writes them, and the text
    /// is gone through once.
    InOrder { rest: &'a [u8], begun: bool },
    /// Taken apart into its fields.
    Apart(Vec<(String, &'a RawValue)>),
}

/// Where a field is.
enum Found<'a> {
    /// Its value is what this text begins with.
    Next(&'a [u8]),
    /// It was set aside, under this name.
    Field(String, &'a RawValue),
    /// It is missing.
    Nothing,
}

impl<'a> Payload<'a> {
    /// An object with no fields but those that are asked for, in that order. Of another one the reading fails, or
    /// [`Payload::is_over`] says no: then [`Payload::parse`] must tell.
    pub(crate) fn in_order(json: &'a [u8]) -> Self {
        Self(Form::InOrder { rest: json, begun: false })
    }

    /// Takes an object apart.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn parse(json: &'a [u8]) -> Result<Self, Error> {
        let mut from = serde_json::Deserializer::from_slice(json);
        let payload = from.deserialize_map(Object)?;
        from.end()?;
        Ok(payload)
    }

    /// True when an object that is read in order had no further fields.
    pub(crate) fn is_over(&self) -> bool {
        match &self.0 {
            Form::InOrder { rest, begun: true } => *rest == b"}",
            Form::InOrder { rest, begun: false } => *rest == b"{}",
            Form::Apart(_) => true,
        }
    }

    /// The field that has one of these names.
    fn find(&mut self, names: &'static [&'static str]) -> Result<Found<'a>, Error> {
        match &mut self.0 {
            Form::InOrder { rest, begun } => match next(rest, *begun, first(names)) {
                Some(text) => Ok(Found::Next(text)),
                None => Err(Error::custom("the fields stand in another order")),
            },
            Form::Apart(fields) => {
                let Some(at) = position(fields, names) else { return Ok(Found::Nothing) };
                let (name, value) = fields.swap_remove(at);
                match position(fields, names) {
                    None => Ok(Found::Field(name, value)),
                    Some(_) => Err(Error::duplicate_field(first(names))),
                }
            }
        }
    }

    /// Reads the value that `text` begins with, and goes on behind it.
    fn read<T: DeserializeOwned>(&mut self, text: &'a [u8]) -> Result<T, Error> {
        let mut values = serde_json::Deserializer::from_slice(text).into_iter();
        let value = values.next().unwrap_or_else(|| Err(Error::custom("the value is missing")))?;
        self.0 = Form::InOrder { rest: &text[values.byte_offset()..], begun: true };
        Ok(value)
    }
}

/// What stands behind the name of the next field, when that is `name`.
fn next<'a>(text: &'a [u8], begun: bool, name: &str) -> Option<&'a [u8]> {
    let mark = if begun { b"," } else { b"{" };
    text.strip_prefix(mark)?.strip_prefix(b"\"")?.strip_prefix(name.as_bytes())?.strip_prefix(b"\":")
}

fn position(fields: &[(String, &RawValue)], names: &[&str]) -> Option<usize> {
    fields.iter().position(|(name, _)| names.contains(&name.as_str()))
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Payload<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of arguments by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Payload(Form::Apart(fields)))
    }
}

fn parse<T: DeserializeOwned>(value: &RawValue, name: &str) -> Result<T, Error> {
    let told = |error: Error| Error::custom(format_args!("argument `{name}`: {error}"));
    // From bytes, as in order: so each type's code for it is made once.
    serde_json::from_slice(value.get().as_bytes()).map_err(told)
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

    fn payload(json: &str) -> Payload<'_> {
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
    fn objects_are_written_behind_each_other() {
        let mut fields = Fields::behind(b"{}".to_vec());
        1_u8.write("a", &mut fields).unwrap();
        2_u8.write("b", &mut fields).unwrap();
        assert_eq!(Fields::behind(fields.end()).end(), br#"{}{"a":1,"b":2}{}"#);
    }

    /// Reads `a` and `b` in this order, when they stand so.
    fn in_order<A: Argument, B: Argument>(json: &str) -> Option<(A, B)> {
        let mut payload = Payload::in_order(json.as_bytes());
        let read = (A::take(&mut payload, &["a", "c"]).ok()?, B::take_or(&mut payload, &["b"], || panic!()).ok()?);
        payload.is_over().then_some(read)
    }

    #[test]
    fn what_stands_in_order_is_read_in_order() {
        assert_eq!(in_order(r#"{"a":1,"b":"}\",x"}"#), Some((1_u8, "}\",x".to_owned())));
        assert_eq!(in_order(r#"{"a":[{"a":1}],"b":null}"#), Some((vec![serde_json::json!({"a": 1})], None::<u8>)));
        assert!(Payload::in_order(b"{}").is_over());
    }

    #[test]
    fn what_does_not_is_left_to_the_other_way() {
        for json in [
            r#"{"b":1,"a":1}"#,
            r#"{"c":1,"b":1}"#,
            r#"{"a":1,"b":1,"a":1}"#,
            r#"{"a":1,"b":1,"z":1}"#,
            r#"{"a":1,"b":1"#,
            r#"{"a":1,"b":1} {}"#,
            r#"{"a":1 ,"b":1}"#,
            r#"{"\u0061":1,"b":1}"#,
            r#"{"a":1}"#,
            r#"{"a":1.5,"b":1}"#,
            r#"{"a":,"b":1}"#,
            "{}",
            "[1]",
            "",
        ] {
            assert_eq!(in_order::<u8, u8>(json), None, "{json}");
        }
        assert!(!Payload::in_order(b"").is_over() && !Payload::in_order(b"{} ").is_over());
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
