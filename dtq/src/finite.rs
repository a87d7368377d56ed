//! Numbers that JSON cannot hold. Its writer makes `null` of NaN and of the infinities without a word, and whoever reads it
//! finds no number, or no value at all where one was optional.

use std::fmt::{self, Display};

use serde::ser::{self, Error as _, Serialize};

/// Asserts that what was encoded as `json` has none of them. Values without a `null` cost a glance at their text only.
///
/// # Errors
/// When there is one.
pub(crate) fn check<T: Serialize + ?Sized>(value: &T, json: &[u8]) -> Result<(), serde_json::Error> {
    // Text is searched many bytes at a time. What is not text was not written by this serializer: then it is walked.
    if std::str::from_utf8(json).is_ok_and(|json| !json.contains("null")) {
        return Ok(());
    }
    match value.serialize(Walk) {
        Err(Stop::NotFinite(number)) => {
            Err(serde_json::Error::custom(format!("{number} is not a number that JSON can hold")))
        }
        // What else went wrong is the writer's to tell, and it did not.
        _ => Ok(()),
    }
}

/// Why a walk ends early.
#[derive(Debug)]
enum Stop {
    NotFinite(f64),
    Other,
}

impl Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the walk ends")
    }
}

impl std::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: Display>(_: T) -> Self {
        Self::Other
    }
}

/// A serializer that writes nothing, and looks at every number.
struct Walk;

type Seen = Result<(), Stop>;

macro_rules! passes {
    ($($name:ident: $type:ty),+) => {
        $(fn $name(self, _: $type) -> Seen {
            Ok(())
        })+
    };
}

impl ser::Serializer for Walk {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    passes!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    );

    fn serialize_f32(self, number: f32) -> Seen {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Seen {
        if number.is_finite() { Ok(()) } else { Err(Stop::NotFinite(number)) }
    }

    fn serialize_none(self) -> Seen {
        Ok(())
    }

    fn serialize_unit(self) -> Seen {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Seen {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Seen {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Seen {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Seen {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Stop> {
        Ok(self)
    }
}

macro_rules! walks {
    ($($trait:ident $method:ident($($key:ty)?)),+) => {
        $(impl ser::$trait for Walk {
            type Ok = ();
            type Error = Stop;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Seen {
                value.serialize(Walk)
            }

            fn end(self) -> Seen {
                Ok(())
            }
        })+
    };
}

walks!(
    SerializeSeq serialize_element(), SerializeTuple serialize_element(), SerializeTupleStruct serialize_field(),
    SerializeTupleVariant serialize_field(), SerializeStruct serialize_field(&'static str),
    SerializeStructVariant serialize_field(&'static str)
);

impl ser::SerializeMap for Walk {
    type Ok = ();
    type Error = Stop;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Seen {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Seen {
        value.serialize(Walk)
    }

    fn end(self) -> Seen {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn told<T: Serialize>(value: T) -> Result<(), String> {
        check(&value, &serde_json::to_vec(&value).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_json_cannot_hold_is_found_wherever_it_is() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let expected = Err(format!("{number} is not a number that JSON can hold"));
            assert_eq!(told(number), expected);
            assert_eq!(told(Some(number)), expected);
            assert_eq!(told(vec![(1, 2.0), (3, number)]), expected);
            assert_eq!(told(BTreeMap::from([("a", Some([number]))])), expected);
            assert_eq!(told(Err::<(), _>(number)), expected);
        }
        assert!(told(f32::NAN).is_err());
    }

    #[test]
    fn nothing_else_is() {
        assert_eq!(told((f64::MAX, -0.0, 1e-320, f32::MIN)), Ok(()));
        assert_eq!(told((None::<f64>, (), "null", vec![Some(1.5), None])), Ok(()));
    }
}
