//! The one connection on which a subscriber's messages are read, and nothing else.

use std::time::Duration;

use redis::{Cmd, Value};

use super::super::dial::Connection;
use super::super::link::Link;
use crate::store::Result;

/// A connection for commands that block; made when it is first used, and again after a failure.
#[derive(Debug, Default)]
pub(super) struct Reader {
    connection: Option<Connection>,
}

impl Reader {
    /// Runs a command that may block for so long.
    pub(super) async fn run(
        &mut self,
        link: &Link,
        operation: &'static str,
        command: &Cmd,
        block: Duration,
    ) -> Result<Value> {
        let mut connection = match self.connection.take() {
            Some(connection) if connection.is_open() => connection,
            _ => link.blocking(operation).await?,
        };
        let answer = link.run_blocking(operation, &mut connection, command, block).await?;
        // After an error, or when the caller leaves, an answer may still come that nobody waits for: then it is closed.
        self.connection = Some(connection);
        Ok(answer)
    }
}
