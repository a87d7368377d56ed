//! A file that exists exactly while the worker is ready: what a probe that runs a command can look at.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Failure;
use super::settings::Found;
use crate::runtime::Readiness;

/// The file's place. Dropped, it leaves no file behind.
pub(super) struct ReadyFile(PathBuf);

impl ReadyFile {
    /// Takes the place over: a file that a killed process left there is removed.
    pub(super) fn claim(found: &Found<PathBuf>) -> Result<Self, Failure> {
        let path = &found.value;
        prepare(path).map_err(|error| {
            let (source, path) = (&found.source, path.display());
            Failure::usage(format!(
                "ready-file (from {source}): {path} cannot be made and removed: {error}; its directory must exist and be \
                 writable"
            ))
        })?;
        Ok(Self(path.clone()))
    }

    /// Makes and removes the file as readiness changes, until the worker stops.
    pub(super) async fn follow(&self, mut readiness: Readiness) {
        while let Some(ready) = readiness.changed().await {
            let done = if ready { fs::write(&self.0, "ready\n") } else { remove(&self.0) };
            if let Err(error) = done {
                tracing::error!(file = %self.0.display(), %error, ready, "the ready file does not tell the truth");
            }
        }
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // What cannot be removed was complained of, or was removed by somebody else.
        let _ = remove(&self.0);
    }
}

/// Removes a stale file, and finds out now rather than later whether one can be made. Tried beside it: for a moment the file
/// itself would say that the worker is ready.
fn prepare(path: &Path) -> io::Result<()> {
    remove(path)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".try");
    fs::write(&beside, "")?;
    remove(Path::new(&beside))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
