//! Looking for settings that endanger tasks, before the first one is accepted.

use super::RedisStore;
use crate::store::{Result, StoreError, Warning};

const OPERATION: &str = "probe";
/// The oldest version that has what the scripts use: exclusive ranges, XPENDING IDLE, XADD MINID.
const OLDEST: (u32, u32) = (6, 2);

pub(super) async fn probe(store: &RedisStore) -> Result<Vec<Warning>> {
    match store.link.run(OPERATION, &redis::cmd("INFO")).await {
        Ok(answer) => judge(store, &super::reply::text(answer).unwrap_or_default()),
        // The user may be allowed everything dtq needs and still not this.
        Err(StoreError::Unusable { detail, .. }) if detail.to_ascii_uppercase().contains("NOPERM") => {
            store.link.run(OPERATION, &redis::cmd("PING")).await?;
            Ok(vec![Warning(
                "the server's settings are unknown, because its user may not run INFO: allow it, or make sure that \
                 the version is 6.2 or later, that maxmemory-policy is noeviction, and that AOF is on"
                    .to_owned(),
            )])
        }
        Err(error) => Err(error),
    }
}

fn judge(store: &RedisStore, info: &str) -> Result<Vec<Warning>> {
    let field = |name: &str| {
        info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim).unwrap_or_default()
    };
    check_version(store, field("redis_version"))?;
    let mut warnings = Vec::new();
    if field("redis_mode") == "sentinel" {
        return Err(store.link.unusable("it is a sentinel; connect to the primary that it watches"));
    }
    if field("role") == "slave" {
        return Err(store.link.unusable("it is a replica; point the URL at the primary"));
    }
    warnings.extend(eviction(store, field("maxmemory_policy"), field("maxmemory") != "0")?);
    warnings.extend(durability(field("aof_enabled") == "1"));
    Ok(warnings)
}

fn check_version(store: &RedisStore, version: &str) -> Result<()> {
    if !is_too_old(version) {
        return Ok(());
    }
    Err(store.link.unusable(format!(
        "it runs version {version}, which lacks commands that dtq needs: use Redis 6.2 or later, or Valkey"
    )))
}

/// A version that cannot be read is taken for a new one.
fn is_too_old(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) < OLDEST)
}

fn eviction(store: &RedisStore, policy: &str, limited: bool) -> Result<Option<Warning>> {
    // volatile-*: only what has a time to live goes, and unfinished tasks have none.
    if !policy.starts_with("allkeys-") {
        return Ok(None);
    }
    let danger = format!(
        "its maxmemory-policy is {policy}: when its memory is full it deletes unfinished tasks. Set it to noeviction \
         (CONFIG SET maxmemory-policy noeviction)"
    );
    if store.link.options().allow_eviction {
        return Ok(Some(Warning(danger)));
    }
    let when = if limited { "" } else { " (maxmemory is not set now, but may be)" };
    Err(store.link.unusable(format!("{danger}, or accept the loss with RedisOptions::allow_eviction{when}")))
}

fn durability(aof: bool) -> Option<Warning> {
    let danger = "append-only persistence is off: tasks accepted since the last snapshot are lost when the server stops. \
                  Set appendonly yes, and appendfsync always if not even the last second may be lost";
    (!aof).then(|| Warning(danger.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_before_6_2_are_too_old() {
        for old in ["2.8.24", "5.0.14", "6.0.16", "6.1.240"] {
            assert!(is_too_old(old), "{old}");
        }
        for new in ["6.2.0", "7.0.15", "7.2.4", "8.6.1", "10.0.0", "unstable", ""] {
            assert!(!is_too_old(new), "{new}");
        }
    }
}
