//! Opening the file and setting connections up.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::errors::{Fault, Outcome};
use super::migrations;
use super::options::{SqliteOptions, Synchronous};

/// Pages in the log before a commit copies them into the file: 16 MB. Larger logs mean fewer, longer copies.
const CHECKPOINT_PAGES: i64 = 4_000;
/// A log that a long reader let grow is cut back to this size.
const LOG_LIMIT: i64 = 64 << 20;
/// Page cache of one connection, in KiB (negative by SQLite's convention).
const CACHE: i64 = -32_768;
/// Distinct statements of all verbs, with room to spare.
const STATEMENTS: usize = 96;

/// Where the database is.
pub(super) enum Place<'a> {
    /// In a file.
    File(&'a Path),
    /// In this process's memory.
    Memory,
}

/// The connection that writes. Makes the file and its tables when they are missing. `contended` is raised whenever
/// another process holds the lock.
pub(super) fn writer(place: &Place<'_>, options: &SqliteOptions, contended: Arc<AtomicBool>) -> Outcome<Connection> {
    let mut conn = match place {
        Place::File(path) => Connection::open_with_flags(path, flags() | OpenFlags::SQLITE_OPEN_CREATE)?,
        Place::Memory => Connection::open_in_memory()?,
    };
    if conn.is_readonly("main")? {
        // SQLite falls back to reading silently.
        return Err(Fault::Data(
            "it can only be read; the file and its directory must be writable for this user".into(),
        ));
    }
    set_up(&mut conn, options, contended)?;
    if let Place::File(_) = place {
        // Looked at first: a file of another program is left as it was, its journal mode included.
        migrations::checked_version(&conn)?;
        use_log(&conn, options.busy_timeout)?;
    }
    conn.pragma_update(None, "synchronous", sync_word(options.synchronous))?;
    migrations::run(&mut conn)?;
    Ok(conn)
}

/// A connection that reads the same file.
pub(super) fn reader(path: &Path, options: &SqliteOptions) -> Outcome<Connection> {
    let mut conn = Connection::open_with_flags(path, flags())?;
    set_up(&mut conn, options, Arc::default())?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// No mutexes: each connection stays on its own thread. No URIs: a path is a path.
fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set_up(conn: &mut Connection, options: &SqliteOptions, contended: Arc<AtomicBool>) -> Outcome<()> {
    conn.busy_handler(Some(patience(options.busy_timeout, contended)))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.pragma_update(None, "foreign_keys", false)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "cache_size", CACHE)?;
    Ok(())
}

/// SQLite's own handler sleeps up to 100 ms at a time and starves beside a busy writer; this one looks often, at odd
/// moments.
fn patience(limit: Duration, contended: Arc<AtomicBool>) -> impl FnMut(i32) -> bool + Send {
    let mut since = Instant::now();
    move |calls| {
        contended.store(true, Ordering::Relaxed);
        if calls == 0 {
            since = Instant::now();
        }
        let patient = since.elapsed() < limit;
        if patient {
            std::thread::sleep(Duration::from_micros(fastrand::u64(100..1_000)));
        }
        patient
    }
}

/// Switches to the write-ahead log. SQLite does not call the busy handler here, so the patience is ours.
fn use_log(conn: &Connection, limit: Duration) -> Outcome<()> {
    let since = Instant::now();
    let mode = loop {
        match conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(error) if is_busy(&error) && since.elapsed() < limit => {
                std::thread::sleep(Duration::from_millis(fastrand::u64(1..10)));
            }
            other => break other?,
        }
    };
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(Fault::Data(format!("the file system does not allow a write-ahead log (journal mode {mode})")));
    }
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    Ok(())
}

/// True when the open file is not at its path any more.
#[cfg(unix)]
pub(super) fn has_moved(conn: &Connection) -> bool {
    let mut moved = 0;
    // A database in memory does not know the question.
    conn.file_control(None::<&str>, rusqlite::FileControl::HasMoved(&mut moved)).is_ok() && moved != 0
}

/// Elsewhere an open file cannot be moved.
#[cfg(not(unix))]
pub(super) fn has_moved(_: &Connection) -> bool {
    false
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn sync_word(synchronous: Synchronous) -> &'static str {
    match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    }
}
