//! Where the server is, with everything secret left out.

use std::fmt;
use std::sync::Arc;

use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

use crate::store::{Result, StoreError};

/// Shown in place of an address that could not be read: it may hold a password in an unexpected place.
const UNREAD: &str = "(address not shown)";
const FORMS: &str = "write redis://[user:password@]host[:port][/database] or unix:///path/to/socket";

/// A server's address as it may be shown.
#[derive(Clone)]
pub(super) struct Address {
    shown: Arc<str>,
    /// Cut out of whatever a server says.
    secret: Option<Arc<str>>,
}

impl Address {
    /// Reads a URL.
    pub(super) fn read(url: &str) -> Result<(Client, Self)> {
        if url.starts_with("rediss:") || url.starts_with("valkeys:") {
            return Err(unread("dtq is built without TLS; use redis:// over a private network or a TLS tunnel"));
        }
        // Its own words may quote the URL, so they are not passed on.
        let info = url.into_connection_info().map_err(|_| unread(&format!("its URL cannot be read: {FORMS}")))?;
        let address = Self::of(&info);
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        let client = Client::open(info.set_redis_settings(settings))
            .map_err(|_| unread(&format!("its URL cannot be used: {FORMS}")))?;
        Ok((client, address))
    }

    fn of(info: &ConnectionInfo) -> Self {
        let redis = info.redis_settings();
        let user = if redis.username().is_some() || redis.password().is_some() { "***@" } else { "" };
        let database = if redis.db() == 0 { String::new() } else { format!("/{}", redis.db()) };
        let shown = match info.addr() {
            ConnectionAddr::Unix(path) => format!("unix://{}{user}", path.display()),
            other => format!("redis://{user}{other}{database}"),
        };
        let secret = redis.password().filter(|it| !it.is_empty()).map(Arc::from);
        Self { shown: shown.into(), secret }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.shown
    }

    /// Text of the server or of the operating system, without the password.
    pub(super) fn scrub(&self, text: &str) -> String {
        match &self.secret {
            Some(secret) => text.replace(&**secret, "***"),
            None => text.to_owned(),
        }
    }
}

fn unread(detail: &str) -> StoreError {
    StoreError::Unusable { store: UNREAD.to_owned(), detail: detail.to_owned() }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        Address::read(url).unwrap().1.to_string()
    }

    #[test]
    fn passwords_and_users_are_masked() {
        assert_eq!(shown("redis://127.0.0.1:7000/3"), "redis://127.0.0.1:7000/3");
        assert_eq!(shown("redis://bob:hunter2@localhost"), "redis://***@localhost:6379");
        assert_eq!(shown("redis://:hunter2@localhost"), "redis://***@localhost:6379");
        assert!(!shown("unix:///tmp/a.sock?pass=hunter2").contains("hunter2"));
        assert!(shown("redis+unix:///tmp/a.sock").contains("/tmp/a.sock"));
        let (_, address) = Address::read("redis://:hunter2@localhost").unwrap();
        assert_eq!(address.scrub("bad hunter2"), "bad ***");
    }

    #[test]
    fn what_cannot_be_read_is_not_echoed() {
        for url in ["redis://:hunter2@", "hunter2", "rediss://:hunter2@host", "redis://:hunter2@host/x", "http://h2"] {
            let error = Address::read(url).err().unwrap();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}
