//! The file's version, and how it gets to the one that this code reads.

use rusqlite::{Connection, TransactionBehavior};

use super::errors::{Fault, Outcome};

/// Marks a file as one of ours: the letters `dtq` and a zero byte.
const APPLICATION: i64 = 0x6474_7100;

/// One script per version; the file's `user_version` is how many of them it has seen.
const STEPS: &[&str] = &[include_str!("schema.sql"), include_str!("schema_2.sql"), include_str!("schema_3.sql")];

/// Brings the file up to date, in one transaction.
pub(super) fn run(conn: &mut Connection) -> Outcome<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = checked_version(&tx)?;
    if version == STEPS.len() {
        return Ok(());
    }
    for step in &STEPS[version..] {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(i64::MAX))?;
    Ok(tx.commit()?)
}

/// The file's version; an error when the file is not ours, or newer than this code.
pub(super) fn checked_version(conn: &Connection) -> Outcome<usize> {
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application != APPLICATION && (tables > 0 || application != 0) {
        return Err(Fault::Data("the database belongs to another program; give dtq a file of its own".into()));
    }
    match usize::try_from(version) {
        Ok(version) if version <= STEPS.len() => Ok(version),
        _ => Err(Fault::Data(format!(
            "the file has version {version}, this dtq reads up to {}; upgrade dtq, or choose another file",
            STEPS.len()
        ))),
    }
}
