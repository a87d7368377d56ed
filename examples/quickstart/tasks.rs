//! The tasks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

use dtq::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Shared state: how much is read at a time, in bytes.
pub(crate) struct ChunkSize(pub(crate) usize);

/// What is found out about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileInfo {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

/// Reads one file. A plain function: it blocks, so it runs on the pool for blocking work.
#[dtq::task(queue = "quickstart", max_attempts = 3, timeout = "2m", backoff = fixed("100ms"))]
pub(crate) fn digest(#[state] chunk: &ChunkSize, path: PathBuf) -> io::Result<FileInfo> {
    let mut reader = BufReader::with_capacity(chunk.0, File::open(&path)?);
    let (mut hash, mut bytes, mut lines) = (Sha256::new(), 0, 0);
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        hash.update(chunk);
        lines += chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let length = chunk.len();
        bytes += length as u64;
        reader.consume(length);
    }
    let mut sha256 = Vec::with_capacity(64);
    for byte in hash.finalize() {
        write!(sha256, "{byte:02x}")?;
    }
    Ok(FileInfo { path, sha256: String::from_utf8_lossy(&sha256).into_owned(), bytes, lines })
}

/// Fails as often as it is told to, and then tells in which attempt it succeeded.
#[dtq::task(queue = "quickstart", backoff = fixed("100ms"))]
pub(crate) async fn flaky(ctx: &Context, failures: u32) -> Result<u32, TaskError> {
    if ctx.attempt() <= failures {
        return Err(TaskError::new(format!("attempt {} fails on purpose", ctx.attempt())));
    }
    Ok(ctx.attempt())
}

/// Fails for good.
#[dtq::task(queue = "quickstart")]
pub(crate) async fn hopeless(what: String) -> Result<(), TaskError> {
    Err(TaskError::permanent(format!("{what} cannot be delivered")))
}

/// Writes the list of the largest files.
#[dtq::task(queue = "quickstart", priority = 9)]
pub(crate) async fn report(largest: Vec<FileInfo>) -> String {
    let line = |file: &FileInfo| {
        let (bytes, lines, path) = (file.bytes, file.lines, file.path.display());
        format!("  {bytes:>12} bytes {lines:>8} lines  {}  {path}", &file.sha256[..16])
    };
    largest.iter().map(line).collect::<Vec<_>>().join("\n")
}
