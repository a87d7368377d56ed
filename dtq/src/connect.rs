//! From a URL to a store: the only file that names them all.

use std::sync::Arc;

use crate::store::messages::Broker;
use crate::store::{Store, StoreError};

/// The store of programs that are told of none.
pub const DEFAULT_URL: &str = "sqlite:dtq.db";

/// The environment variable that names the store.
pub const URL_VARIABLE: &str = "DTQ_URL";

/// The URL that is configured: `DTQ_URL`, else the `url` of dtq.toml (with feature "cli"), else the default one.
///
/// # Errors
/// When dtq.toml is there and cannot be read.
pub fn configured_url() -> Result<String, StoreError> {
    match std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty()) {
        Some(url) => Ok(url),
        None => Ok(url_from_file()?.unwrap_or_else(|| DEFAULT_URL.into())),
    }
}

#[cfg(feature = "cli")]
fn url_from_file() -> Result<Option<String>, StoreError> {
    let read = crate::config_file::ConfigFile::read(None);
    read.map(|(file, _)| file.url().map(str::to_owned)).map_err(|error| unusable("the URL of dtq.toml", &error))
}

#[cfg(not(feature = "cli"))]
#[allow(clippy::unnecessary_wraps, reason = "the other one can fail")]
fn url_from_file() -> Result<Option<String>, StoreError> {
    Ok(None)
}

/// Opens the store that a URL names.
///
/// # Errors
/// When the URL is not understood (it is not repeated: it may hold a password), or its file cannot be opened.
pub fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match url.split_once(':').map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest)) {
        Some((scheme, rest)) if scheme == "sqlite" => sqlite(rest),
        Some((scheme, _))
            if matches!(scheme.as_str(), "redis" | "rediss" | "valkey" | "valkeys" | "unix" | "redis+unix") =>
        {
            redis(url)
        }
        Some((scheme, _)) if matches!(scheme.as_str(), "redis+cluster" | "redis+sentinel") => {
            Err(unusable(&scheme, "this version works with a single server; use redis://HOST:PORT"))
        }
        _ => Err(unusable("that URL", UNKNOWN)),
    }
}

/// The file of an embedded store that is not there yet.
#[cfg(feature = "cli")]
pub(crate) fn missing_file(url: &str) -> Option<std::path::PathBuf> {
    let (scheme, rest) = url.split_once(':')?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let is_file = scheme.eq_ignore_ascii_case("sqlite") && !matches!(path, "" | ":memory:") && !path.contains('?');
    (is_file && !std::path::Path::new(path).exists()).then(|| path.into())
}

/// A store in this process's memory, with a clock of the caller's choice.
#[cfg(feature = "sqlite")]
pub(crate) fn in_memory(clock: crate::clock::Clock) -> Result<Arc<dyn Store>, StoreError> {
    use crate::store::sqlite::{SqliteOptions, SqliteStore};
    Ok(Arc::new(SqliteStore::in_memory(SqliteOptions { clock, ..SqliteOptions::default() })?))
}

/// Opens the server that a URL names as a place of messages which dtq did not write.
///
/// # Errors
/// When the URL is not understood, or names a store that has none.
pub fn broker(url: &str) -> Result<Arc<dyn Broker>, StoreError> {
    let store = open(url)?;
    store
        .broker()
        .ok_or_else(|| unusable(store.address(), "it holds no messages of others; name a server: redis://HOST:PORT"))
}

const UNKNOWN: &str = "it is not understood; use sqlite:FILE, sqlite::memory:, redis://HOST:PORT/DB or unix:PATH";

fn unusable(store: &str, detail: &str) -> StoreError {
    StoreError::Unusable { store: store.into(), detail: detail.into() }
}

#[cfg(feature = "sqlite")]
fn sqlite(rest: &str) -> Result<Arc<dyn Store>, StoreError> {
    use crate::store::sqlite::{SqliteOptions, SqliteStore};

    let path = rest.strip_prefix("//").unwrap_or(rest);
    let options = SqliteOptions::default();
    match path {
        "" => Err(unusable("sqlite", "the URL names no file; use sqlite:FILE or sqlite::memory:")),
        path if path.contains('?') => Err(unusable("sqlite", "the URL has a '?': a file has no options")),
        ":memory:" => Ok(Arc::new(SqliteStore::in_memory(options)?)),
        path => Ok(Arc::new(SqliteStore::open(path, options)?)),
    }
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_rest: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(unusable("sqlite", "this program was built without dtq's feature \"sqlite\""))
}

#[cfg(feature = "redis")]
fn redis(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    use crate::store::redis::{RedisOptions, RedisStore};

    Ok(Arc::new(RedisStore::connect(url, RedisOptions::default())?))
}

#[cfg(not(feature = "redis"))]
fn redis(_url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(unusable("redis", "this program was built without dtq's feature \"redis\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_not_understood_is_not_repeated() {
        for url in ["amqp://u:hunter2@h", "hunter2", "hunter2:x@y z", ""] {
            let error = open(url).err().unwrap().to_string();
            assert!(!error.contains("hunter2"), "{error}");
            assert!(error.contains("sqlite:FILE"), "{error}");
        }
    }
}
