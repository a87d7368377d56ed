//! Results to bytes and back: JSON.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::finite;

/// Encodes a value.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Bytes, String> {
    json_of(value).map(Bytes::from)
}

fn json_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, String> {
    let json = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    finite::check(value, &json).map_err(|error| error.to_string())?;
    Ok(json)
}

/// Decodes a value.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// Encodes a result; one that carries nothing (JSON `null`) takes no room in a store.
pub(crate) fn encode_result<T: Serialize>(value: &T) -> Result<Option<Bytes>, String> {
    Ok(Some(json_of(value)?).filter(|json| json != b"null").map(Bytes::from))
}

/// Decodes a result; none at all is JSON `null`.
pub(crate) fn decode_result<T: DeserializeOwned>(bytes: Option<&Bytes>) -> Result<T, String> {
    decode(bytes.map_or(b"null".as_slice(), Bytes::as_ref))
}
