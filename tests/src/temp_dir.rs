//! A directory of a test's own.

use std::path::{Path, PathBuf};

/// A fresh directory, removed with all it holds when dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Makes a directory under the system's temporary one.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("dtq-tests-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir_all(&path).expect("make a temporary directory");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Default for TempDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // Leftovers in the temporary directory are no reason to fail a test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
