//! A worker program for the end-to-end tests. Its tasks tell what they do by touching files in a folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dtq::prelude::*;

/// Tells that an attempt runs, waits for the file `release`, and gives the attempt's number; ends when it is called off.
#[dtq::task(backoff = fixed("10ms"))]
async fn slow(ctx: &Context, folder: PathBuf) -> std::io::Result<u32> {
    tell(&folder, &format!("started {}", ctx.attempt()))?;
    while !folder.join("release").exists() {
        if ctx.is_cancelled() {
            tell(&folder, &format!("called off {}", ctx.attempt()))?;
            return Err(std::io::Error::other("called off"));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(ctx.attempt())
}

/// Blocks a thread of the runtime, as an async function should not.
#[dtq::task]
async fn block(ctx: &Context, folder: PathBuf) -> std::io::Result<()> {
    tell(&folder, &format!("started {}", ctx.attempt()))?;
    std::thread::sleep(Duration::from_secs(30));
    Ok(())
}

/// Blocks a thread that is there for it.
#[dtq::task]
fn block_plainly(folder: PathBuf) -> std::io::Result<()> {
    tell(&folder, "started 1")?;
    std::thread::sleep(Duration::from_secs(30));
    Ok(())
}

/// Takes the whole process down.
#[dtq::task(max_attempts = 3)]
async fn abort(ctx: &Context, folder: PathBuf) -> std::io::Result<()> {
    tell(&folder, &format!("started {}", ctx.attempt()))?;
    std::process::abort();
}

/// Tells its number, runs for a while, and gives the number.
#[dtq::task]
async fn nap(folder: PathBuf, n: u64, millis: u64) -> std::io::Result<u64> {
    tell(&folder, &format!("ran {n}"))?;
    tokio::time::sleep(Duration::from_millis(millis)).await;
    Ok(n)
}

/// Waits for the file `release`, and fails but for its third attempt.
#[dtq::task(backoff = fixed("100ms"), max_attempts = 3)]
async fn fails_twice(ctx: &Context, folder: PathBuf) -> std::io::Result<u32> {
    tell(&folder, &format!("attempt {}", ctx.attempt()))?;
    while !folder.join("release").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    match ctx.attempt() {
        3 => Ok(3),
        attempt => Err(std::io::Error::other(format!("attempt {attempt} fails"))),
    }
}

/// Fails, and comes back after a while.
#[dtq::task(backoff = fixed("1s"), max_attempts = 2)]
async fn fails_at_leisure(ctx: &Context, folder: PathBuf) -> std::io::Result<()> {
    tell(&folder, &format!("attempt {}", ctx.attempt()))?;
    Err(std::io::Error::other("it fails"))
}

/// Ends at once.
#[dtq::task]
async fn quick(n: u64) -> u64 {
    n
}

fn tell(folder: &Path, line: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("told"))?;
    file.write_all(format!("{line}\n").as_bytes())
}

#[dtq::main]
async fn main() -> std::io::Result<()> {
    match std::env::var("E2E_SET_UP") {
        Ok(words) => Err(std::io::Error::other(words)),
        Err(_) => Ok(()),
    }
}
