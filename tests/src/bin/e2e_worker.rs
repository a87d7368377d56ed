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

/// Does its work at most once, and tells of each beginning.
#[dtq::task(backoff = fixed("10ms"))]
async fn once(ctx: &Context, folder: PathBuf) -> Result<u32, TaskError> {
    let work = || async {
        tell(&folder, &format!("inside {}", ctx.attempt()))?;
        while !folder.join("release").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok::<_, std::io::Error>(ctx.attempt())
    };
    let done = ctx.once("work", Duration::from_secs(3600), work).await?;
    tell(&folder, &format!("after {}", ctx.attempt()))?;
    while !folder.join("end").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(done)
}

/// Takes the whole process down by its stack.
#[dtq::task(max_attempts = 3)]
fn overflow(ctx: &Context, folder: PathBuf) -> std::io::Result<u64> {
    tell(&folder, &format!("started {}", ctx.attempt()))?;
    Ok(endless(1))
}

#[allow(unconditional_recursion, reason = "this is what overflows")]
fn endless(depth: u64) -> u64 {
    std::hint::black_box(depth) + endless(depth + 1)
}

/// Tells when it begins, ends as it is asked to, and tells that, too. What retries or snoozes does so once.
#[dtq::task(backoff = fixed("1s"))]
async fn acts(ctx: &Context, folder: PathBuf, how: String) -> Result<u32, TaskError> {
    tell(&folder, &format!("started {}", ctx.attempt()))?;
    let again = std::fs::read_to_string(folder.join("told"))?.matches("started").count() > 1;
    let ended = match how.as_str() {
        "retries" if !again => Err(TaskError::new("not yet")),
        "snoozes" if !again => Err(TaskError::snooze(Duration::from_secs(1))),
        "fails" => Err(TaskError::permanent("no way")),
        "waits" => stays(ctx, &folder).await.map(|_| ctx.attempt()),
        "waits and fails when told" => match stays(ctx, &folder).await? {
            true => Err(TaskError::new("told to stop")),
            false => Ok(ctx.attempt()),
        },
        _ => Ok(ctx.attempt()),
    };
    tell(&folder, &format!("ended {}", ctx.attempt()))?;
    ended
}

/// Gives itself up.
#[dtq::task]
async fn drops(ctx: &Context, folder: PathBuf) -> Outcome {
    let told = ["started", "ended"].map(|what| tell(&folder, &format!("{what} {}", ctx.attempt())));
    if told.iter().all(Result::is_ok) { Outcome::Drop } else { Outcome::Retry }
}

/// Waits for the file `release`, or until the attempt is told to stop: then it tells so, and gives true.
async fn stays(ctx: &Context, folder: &Path) -> Result<bool, TaskError> {
    while !folder.join("release").exists() {
        if ctx.is_cancelled() {
            tell(folder, &format!("told {}", ctx.attempt()))?;
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(false)
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
#[dtq::task(aliases = ["rapid"])]
async fn quick(n: u64) -> u64 {
    n
}

/// One task for all that is enqueued of a number.
#[dtq::task(idempotency_key = "n-{n}")]
async fn keyed(n: u64) -> u64 {
    n
}

fn tell(folder: &Path, line: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("told"))?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// What a producer does that must not lose a task: it sends one until that was accepted, always with the same id.
async fn produce(id: &str) -> Result<(), TaskError> {
    let folder: PathBuf = std::env::var("E2E_FOLDER")?.into();
    let call = acts::enqueue(folder.clone(), "succeeds".into()).id(id.parse()?);
    loop {
        match call.send().await {
            Ok(handle) => return Ok(tell(&folder, if handle.is_duplicate() { "known" } else { "made" })?),
            Err(_) => tell(&folder, "no answer")?,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[dtq::main]
async fn main() -> Result<(), TaskError> {
    if let Ok(words) = std::env::var("E2E_SET_UP") {
        return Err(TaskError::new(words));
    }
    if let Ok(id) = std::env::var("E2E_ENQUEUE") {
        produce(&id).await?;
    }
    Ok(())
}
