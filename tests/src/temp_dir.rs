//! A directory of a test's own.

use std::path::{Path, PathBuf};

/// A fresh directory, removed with all it holds when dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Makes a directory in memory where there is such a place, else under the system's temporary one. Many tests sync
    /// at once, and a disk that is still busy with a build stalls longer than the short leases some of them need.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let path = base.join(format!("dtq-tests-{}", uuid::Uuid::new_v4().simple()));
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
