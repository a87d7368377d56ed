//! `probe`: is the store usable, and is anything about it dangerous?

use super::SqliteStore;
use super::migrations;
use super::options::Synchronous;
use crate::store::{Result, Warning};

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
}
