//! Looking for settings that endanger tasks, before the first one is accepted.

use super::RedisStore;
use super::reply;
use crate::store::{Description, Result, StoreError, Warning};
use crate::types::Timestamp;

const OPERATION: &str = "probe";
/// The oldest version that has what the scripts use: exclusive ranges, XPENDING IDLE, XADD MINID.
const OLDEST: (u32, u32) = (6, 2);

pub(super) async fn probe(store: &RedisStore) -> Result<Vec<Warning>> {
    match store.link.run(OPERATION, &redis::cmd("INFO")).await {
        Ok(answer) => judge(store, &reply::text(answer).unwrap_or_default()),
        Err(error) if is_forbidden(&error) => {
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

/// The user may be allowed everything dtq needs and still not this.
fn is_forbidden(error: &StoreError) -> bool {
    matches!(error, StoreError::Unusable { detail, .. } if detail.to_ascii_uppercase().contains("NOPERM"))
}

/// One line of INFO; empty when it is not there.
fn field<'a>(info: &'a str, name: &str) -> &'a str {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim).unwrap_or_default()
}

/// Settings that bear on what the server keeps, by their names in INFO.
const SETTINGS: [&str; 6] =
    ["maxmemory_policy", "maxmemory", "used_memory", "aof_enabled", "rdb_last_bgsave_status", "role"];

/// The server's version, its clock and its settings.
pub(super) async fn describe(store: &RedisStore) -> Result<Description> {
    const OPERATION: &str = "describe";
    let info = match store.link.run(OPERATION, &redis::cmd("INFO")).await {
        Ok(answer) => reply::text(answer).unwrap_or_default(),
        Err(error) if is_forbidden(&error) => String::new(),
        Err(error) => return Err(error),
    };
    let time = store.link.run(OPERATION, &redis::cmd("TIME")).await?;
    let now = time_of(time).ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer to TIME"))?;
    let (product, version) = match field(&info, "valkey_version") {
        "" => ("Redis", field(&info, "redis_version")),
        version => ("Valkey", version),
    };
    let settings = SETTINGS.map(|name| (name, field(&info, name).to_owned()));
    let settings = settings.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Ok(Description { product, version: version.to_owned(), now, settings })
}

/// The answer to TIME: seconds, and microseconds of the next one.
fn time_of(answer: redis::Value) -> Option<Timestamp> {
    let mut parts = reply::list(answer)?.into_iter();
    let mut next = || reply::text(parts.next()?)?.parse::<i64>().ok();
    Some(Timestamp::from_millis(next()?.saturating_mul(1000).saturating_add(next()? / 1000)))
}

fn judge(store: &RedisStore, info: &str) -> Result<Vec<Warning>> {
    let field = |name| field(info, name);
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
