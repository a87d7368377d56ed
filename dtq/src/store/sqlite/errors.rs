//! From SQLite's words to the store's errors.

use rusqlite::{Error, ErrorCode};

use crate::store::StoreError;

/// What can go wrong inside a job.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite's own error.
    Sql(Error),
    /// A value that this version never writes.
    Data(String),
    /// The file is not at its path any more: other processes would not see what is written to it.
    Moved,
}

const MOVED: &str = "the file was deleted, moved or replaced while it was open; put it back, or restart this process";

/// The result of a job.
pub(super) type Outcome<T> = Result<T, Fault>;

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    /// The error that a caller of `operation` on the store at `store` sees.
    pub(super) fn to_error(&self, operation: &'static str, store: &str) -> StoreError {
        match self {
            Self::Sql(error) => from_sqlite(error, operation, store),
            Self::Data(detail) => corrupt(operation, store, detail.clone()),
            Self::Moved => unusable(store, format!("{operation}: {MOVED}")),
        }
    }

    /// The error of a store that cannot be opened. Only a busy or full store can be hoped for.
    pub(super) fn to_open_error(&self, store: &str) -> StoreError {
        let error = self.to_error("open", store);
        if matches!(&error, StoreError::Refused { .. }) && !self.is(ErrorCode::ReadOnly) {
            return error;
        }
        unusable(store, format!("{}{}", self.words(), self.open_remedy()))
    }

    fn is(&self, wanted: ErrorCode) -> bool {
        matches!(self, Self::Sql(error) if error.sqlite_error_code() == Some(wanted))
    }

    fn words(&self) -> String {
        match self {
            Self::Sql(error) => error.to_string(),
            Self::Data(detail) => detail.clone(),
            Self::Moved => MOVED.into(),
        }
    }

    fn open_remedy(&self) -> &'static str {
        let Self::Sql(error) = self else { return "" };
        match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen) => "; check that its directory exists and that this user may write there",
            Some(ErrorCode::ReadOnly) => "; the file and its directory must be writable for this user",
            Some(ErrorCode::NotADatabase) => "; choose another path, or move that file away",
            Some(ErrorCode::DatabaseCorrupt) => "; restore a backup, or recover with `sqlite3 FILE .recover`",
            _ => "",
        }
    }
}

fn from_sqlite(error: &Error, operation: &'static str, store: &str) -> StoreError {
    let refused = |remedy| refused(operation, store, error.to_string(), remedy);
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            refused("; another process holds the write lock: shorten its transactions or raise busy_timeout")
        }
        Some(ErrorCode::DiskFull) => refused("; free some disk space"),
        Some(ErrorCode::ReadOnly) => refused("; make the file and its directory writable for this user"),
        Some(ErrorCode::OutOfMemory) => refused("; free some memory"),
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            StoreError::Unreachable { operation, store: store.to_owned(), detail: error.to_string() }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => corrupt(operation, store, error.to_string()),
        Some(_) => unusable(store, format!("{operation}: {error}")),
        // Everything without a code comes from reading a row whose columns have another form than expected.
        None => corrupt(operation, store, error.to_string()),
    }
}

fn refused(operation: &'static str, store: &str, detail: String, remedy: &'static str) -> StoreError {
    StoreError::Refused { operation, store: store.to_owned(), detail, remedy }
}

pub(super) fn corrupt(operation: &'static str, store: &str, detail: String) -> StoreError {
    StoreError::Corrupt { operation, store: store.to_owned(), detail }
}

pub(super) fn unusable(store: &str, detail: String) -> StoreError {
    StoreError::Unusable { store: store.to_owned(), detail }
}
