//! `probe`: is the store usable, and is anything about it dangerous?

use super::SqliteStore;
use super::errors::Outcome;
use super::migrations;
use super::options::Synchronous;
use super::reader::View;
use crate::store::{Description, Result, Warning};

const MAY_LOSE: &str = "synchronous is NORMAL: a power loss or a crash of the machine can take the last acknowledged \
                        writes; choose Synchronous::Full to keep them";

impl SqliteStore {
    /// Reads the schema's version and looks at the settings. Network file systems, whose locks may not work, cannot be
    /// told from here.
    pub(super) async fn look_for_dangers(&self) -> Result<Vec<Warning>> {
        self.read("probe", |view| migrations::checked_version(view.conn)).await?;
        let file = self.inner.reader.is_some();
        let risky = file && self.inner.options.synchronous == Synchronous::Normal;
        Ok(risky.then(|| Warning(MAY_LOSE.into())).into_iter().collect())
    }

    /// The library's version, the store's clock, and the file's settings.
    pub(super) async fn look_at_settings(&self) -> Result<Description> {
        let (now, mut settings) = self.read("describe", |view| Ok((view.now, settings(view)?))).await?;
        let synchronous = match self.inner.options.synchronous {
            Synchronous::Normal => "normal",
            Synchronous::Full => "full",
        };
        settings.push(("synchronous", synchronous.into()));
        Ok(Description { product: "SQLite", version: rusqlite::version().into(), now, settings })
    }
}

/// What the file says of itself.
fn settings(view: &View<'_>) -> Outcome<Vec<(&'static str, String)>> {
    let text = |name| view.conn.pragma_query_value(None, name, |row| row.get::<_, String>(0));
    let number = |name| view.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let size = number("page_count")?.saturating_mul(number("page_size")?);
    Ok(vec![
        ("journal_mode", text("journal_mode")?),
        ("user_version", migrations::checked_version(view.conn)?.to_string()),
        ("size_bytes", size.to_string()),
    ])
}
