//! From the server's and the network's errors to ours, with a remedy where there is one.

use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::address::Address;
use crate::store::StoreError;

/// What a server answers when it refuses for now, and what to do about it.
const REFUSALS: [(&str, &str); 10] = [
    ("LOADING", "; it is reading its data set from disk, which ends by itself"),
    ("READONLY", "; this is a replica: point the URL at the primary, or wait for the failover to end"),
    ("MISCONF", "; it cannot save to disk: free disk space there and check its log"),
    ("OOM", "; it is out of memory: let workers drain the queues, or raise maxmemory"),
    ("BUSY", "; another client's script blocks it: end that with SCRIPT KILL"),
    ("CLUSTERDOWN", "; the cluster does not serve this slot: check CLUSTER INFO"),
    ("TRYAGAIN", "; the slot is being moved, which ends by itself"),
    ("NOREPLICAS", "; too few replicas are connected for min-replicas-to-write"),
    ("MASTERDOWN", "; this replica lost its primary: point the URL at the primary"),
    ("UNBLOCKED", "; the server changed its role"),
];

/// Answers that no waiting mends.
const DENIALS: [(&str, &str); 7] = [
    ("WRONGPASS", "check the user and the password in the URL"),
    ("NOAUTH", "it asks for a password: write redis://:password@host or redis://user:password@host"),
    // What it answers when the command is not a short one.
    (UNAUTHENTICATED, "it asks for a password: write redis://:password@host or redis://user:password@host"),
    ("NOPERM", "this user may not run what dtq needs: allow it all commands on the keys of dtq's prefix"),
    ("DENIED", "it accepts only local clients without a password: set one, or turn its protected mode off"),
    ("MOVED", "it is one node of a cluster and does not hold this queue: connect to the node that does"),
    ("CROSSSLOT", "its cluster split keys of one queue, which their hash tag forbids: is a proxy in between?"),
];

/// How a server begins to refuse a long command of somebody who gave no password.
const UNAUTHENTICATED: &str = "ERR Protocol error: unauthenticated";

/// True when a connection on which this happened must not be used again.
pub(super) fn breaks_connection(error: &RedisError) -> bool {
    // After a timeout the late answer is still to come; a fresh connection knows nothing of it.
    matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse | ErrorKind::AuthenticationFailed)
        || error.is_unrecoverable_error()
        // A demoted primary keeps its connections: a new one may find the new primary behind the same name.
        || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

/// Turns an error into the caller's words.
pub(super) fn explain(operation: &'static str, address: &Address, limit: Duration, error: &RedisError) -> StoreError {
    let store = address.to_string();
    if error.is_timeout() {
        return StoreError::Timeout { operation, store, after: limit };
    }
    let code = error.code().unwrap_or_default();
    let detail = address.scrub(&match error.detail() {
        Some(detail) if !code.is_empty() => format!("{code} {detail}"),
        _ => error.to_string(),
    });
    // Servers before version 7 wrap an error inside a script: "ERR Error running script ...: -OOM command not allowed".
    let is =
        |name: &str| code == name || detail.contains(&format!("-{name} ")) || detail.starts_with(&format!("{name} "));
    if let Some((_, remedy)) = DENIALS.iter().find(|(name, _)| is(name)) {
        return StoreError::Unusable { store, detail: format!("{remedy} ({detail})") };
    }
    if error.kind() == ErrorKind::AuthenticationFailed {
        return StoreError::Unusable {
            store,
            detail: format!("check the user and the password in the URL ({detail})"),
        };
    }
    if let Some((_, remedy)) = REFUSALS.iter().find(|(name, _)| is(name)) {
        return StoreError::Refused { operation, store, detail, remedy };
    }
    match error.kind() {
        ErrorKind::Io | ErrorKind::Parse => StoreError::Unreachable { operation, store, detail },
        ErrorKind::UnexpectedReturnType => StoreError::Corrupt { operation, store, detail },
        ErrorKind::Server(_) | ErrorKind::Extension => refused_command(operation, store, detail),
        _ => StoreError::Unusable { store, detail },
    }
}

fn refused_command(operation: &'static str, store: String, detail: String) -> StoreError {
    if detail.contains("WRONGTYPE") {
        return StoreError::Corrupt { operation, store, detail };
    }
    if detail.contains("unknown command") {
        let detail = format!("it lacks a command; dtq needs Redis 6.2 or Valkey ({detail})");
        return StoreError::Unusable { store, detail };
    }
    if detail.contains("max number of clients") {
        return StoreError::Refused {
            operation,
            store,
            detail,
            remedy: "; raise its maxclients, or connect less often",
        };
    }
    if detail.contains("DB index") {
        return StoreError::Unusable { store, detail: format!("it has no database of that number ({detail})") };
    }
    StoreError::Rejected { operation, store, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(reply: &'static [u8]) -> StoreError {
        let (_, address) = Address::read("redis://:hunter2@localhost").unwrap();
        let error = redis::parse_redis_value(reply).unwrap().extract_error().unwrap_err();
        explain("claim", &address, Duration::from_secs(5), &error)
    }

    #[test]
    fn refusals_are_transient_and_name_a_remedy() {
        for reply in [
            &b"-LOADING Redis is loading the dataset in memory\r\n"[..],
            b"-READONLY You can't write against a read only replica.\r\n",
            b"-MISCONF Redis is configured to save RDB snapshots\r\n",
            b"-OOM command not allowed when used memory > 'maxmemory'. script: f\r\n",
            b"-ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not allowed\r\n",
            b"-BUSY Redis is busy running a script.\r\n",
            b"-CLUSTERDOWN Hash slot not served\r\n",
            b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
            b"-NOREPLICAS Not enough good replicas to write.\r\n",
            b"-MASTERDOWN Link with MASTER is down\r\n",
        ] {
            let error = explained(reply);
            assert!(error.is_transient(), "{error}");
            assert!(matches!(&error, StoreError::Refused { remedy, .. } if remedy.starts_with("; ")), "{error:?}");
        }
    }

    #[test]
    fn denials_are_final_and_never_show_the_password() {
        for reply in
            [&b"-WRONGPASS invalid hunter2\r\n"[..], b"-NOAUTH Authentication required.\r\n", b"-NOPERM no\r\n"]
        {
            let error = explained(reply);
            assert!(!error.is_transient(), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
