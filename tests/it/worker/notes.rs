//! What handlers tell while they run: progress, lines, checkpoints.

use std::time::{Duration, Instant};

use dtq::RunningWorker;
use dtq::prelude::*;
use dtq::store::Claim;
use dtq::types::{ErrorKind, Share, Status};
use dtq_examples::{Fault, Proxy};
use dtq_tests::{Monitor, World, eventually, lasting, want, worker as named};

use super::{Bench, PATIENCE, Probe, failures, on_both_stores};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Counts up from its checkpoint, ends its first attempts in one of several ways, and tells what it does.
#[dtq::task(max_attempts = 4, backoff = fixed("10ms"))]
async fn counts(ctx: &Context, #[state] probe: &Probe, how: String) -> Result<u32, TaskError> {
    let begin: u32 = ctx.last_checkpoint()?.unwrap_or(0);
    probe.note(format!("begins at {begin}"));
    for n in begin + 1..=begin + 10 {
        ctx.checkpoint(&n)?;
        ctx.progress(f64::from(n) / 100.0, format!("at {n}"));
        ctx.log(format!("line {n}"));
    }
    match how.as_str() {
        _ if ctx.attempt() == 3 || how == "succeed" => Ok(begin + 10),
        "snooze" if begin < 20 => Err(TaskError::snooze(Duration::from_millis(10))),
        "snooze" => Ok(begin + 10),
        "panic" => panic!("here"),
        _ => Err(TaskError::new("not yet")),
    }
}

async fn result_of<T: serde::de::DeserializeOwned>(w: &World, handle: &Handle<T>) -> T {
    eventually("it succeeds", || async {
        w.advance(Duration::from_millis(20));
        handle.result(Duration::from_millis(20)).await.ok()
    })
    .await
}

async fn the_last_word_before_the_end_is_never_lost(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for _ in 0..20 {
        let handle = counts::enqueue("succeed".into()).on(&b.client).await.unwrap();
        assert_eq!(handle.result(PATIENCE).await.unwrap(), 10);
        let progress = handle.progress().await.unwrap().expect("progress");
        assert_eq!((progress.done, progress.message.as_str(), progress.attempt), (Share::of(0.1), "at 10", 1));
        let lines = b.client.logs(handle.id()).await.unwrap();
        let texts: Vec<_> = lines.iter().map(|line| line.text.clone()).collect();
        assert_eq!(texts, (1..=10).map(|n| format!("line {n}")).collect::<Vec<_>>());
    }
    worker.stop().await;
}

async fn the_next_attempt_begins_at_the_last_checkpoint(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for how in ["fail", "panic", "snooze"] {
        let handle = counts::enqueue(how.into()).on(&b.client).await.unwrap();
        assert_eq!(result_of(w, &handle).await, 30, "{how}");
        assert_eq!(w.record(handle.id()).await.log.len(), 30, "{how}");
    }
    assert_eq!(b.probe.count("begins at 20"), 3);
    worker.stop().await;
}

/// A plain function, which cannot await.
#[dtq::task(max_attempts = 2, backoff = fixed("10ms"))]
fn counts_plainly(ctx: &Context) -> Result<u32, TaskError> {
    let begin: u32 = ctx.last_checkpoint()?.unwrap_or(0);
    ctx.checkpoint(&(begin + 1))?;
    ctx.progress(1.0, "there");
    if ctx.attempt() == 1 { Err(TaskError::new("not yet")) } else { Ok(begin) }
}

async fn a_plain_function_does_it_too(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = counts_plainly::enqueue().on(&b.client).await.unwrap();
    assert_eq!(result_of(w, &handle).await, 1);
    worker.stop().await;
}

/// Saves its state, and loses its lease before it goes on.
#[dtq::task(max_attempts = 2)]
async fn saves_and_is_lost(ctx: &Context, #[state] probe: &Probe) -> Result<String, TaskError> {
    if let Some(state) = ctx.last_checkpoint::<String>()? {
        return Ok(state);
    }
    ctx.checkpoint("saved by the first")?;
    ctx.saved().await?;
    probe.note("saved");
    ctx.cancellation().cancelled().await;
    ctx.checkpoint("from beyond")?;
    ctx.progress(1.0, "from beyond");
    probe.note(match ctx.saved().await {
        Ok(()) => "kept".to_owned(),
        Err(error) => error.to_string(),
    });
    Ok("late".into())
}

async fn a_lost_attempts_checkpoint_is_the_new_owners_and_stays_its_own(w: &World) {
    const LOST: &str = "this attempt lost its lease; nothing of it is kept any more";
    const SHORT: Duration = Duration::from_millis(1800);
    let b = Bench::new(w);
    // No room for a second task: this worker does not look for lost ones itself.
    let worker = b.worker_with(Bench::config().lease(SHORT).concurrency(1)).await;
    let handle = saves_and_is_lost::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("saved", 1).await;
    // As if the worker's machine had been asleep: the store's clock has passed the lease before any renewal.
    let taken = eventually("the task is taken over", || async {
        w.advance(2 * SHORT);
        let look = Claim { worker: named("other"), sweep: true, lease: DAY, ..want(1) };
        w.claim_with(look).await.deliveries.pop()
    })
    .await;
    assert!(taken.resumes);
    b.probe.noted(LOST, 1).await;
    let record = w.record(handle.id()).await;
    assert_eq!((record.progress, record.checkpoint.as_deref()), (None, Some(&br#""saved by the first""#[..])));
    // The next one goes on from there.
    w.release(&taken).await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), "saved by the first");
    assert_eq!(w.record(handle.id()).await.attempt, 2);
    worker.stop().await;
}

/// Its checkpoint is of a type that no later version knows.
#[dtq::task(max_attempts = 3, backoff = fixed("10ms"))]
async fn changes_its_mind(ctx: &Context, lenient: bool) -> Result<u32, TaskError> {
    if ctx.attempt() == 1 {
        ctx.checkpoint("a word")?;
        return Err(TaskError::new("deployed anew"));
    }
    if lenient {
        Ok(ctx.last_checkpoint().unwrap_or_default().unwrap_or(0))
    } else {
        Ok(ctx.last_checkpoint()?.unwrap_or(0))
    }
}

async fn a_checkpoint_of_another_type_is_an_error_or_none_as_the_handler_wants(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let lenient = changes_its_mind::enqueue(true).on(&b.client).await.unwrap();
    assert_eq!(result_of(w, &lenient).await, 0);
    let strict = changes_its_mind::enqueue(false).on(&b.client).await.unwrap();
    let record = b.runs_out(&strict).await;
    let (attempt, kind, message) = failures(&record)[1];
    assert_eq!((record.status, attempt, kind), (Status::DeadLettered, 2, ErrorKind::Permanent));
    assert!(message.contains("the last checkpoint is not of the type asked for"), "{message}");
    worker.stop().await;
}

#[dtq::task]
async fn saves_too_much(ctx: &Context) -> Result<(), TaskError> {
    ctx.progress(0.5, "x".repeat(1000));
    ctx.log("y".repeat(1000));
    Ok(ctx.checkpoint(&"z".repeat(65 * 1024))?)
}

async fn what_is_too_large_is_cut_or_refused(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = saves_too_much::enqueue().on(&b.client).await.unwrap();
    let error = handle.result(PATIENCE).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::Permanent));
    assert!(error.to_string().contains("the limit is 65536"), "{error}");
    let record = w.record(handle.id()).await;
    assert_eq!((record.progress.unwrap().message.len(), record.log[0].text.len(), record.checkpoint), (256, 512, None));
    worker.stop().await;
}

on_both_stores! {
    the_last_word_before_the_end_is_never_lost,
    the_next_attempt_begins_at_the_last_checkpoint,
    a_plain_function_does_it_too,
    a_lost_attempts_checkpoint_is_the_new_owners_and_stays_its_own,
    a_checkpoint_of_another_type_is_an_error_or_none_as_the_handler_wants,
    what_is_too_large_is_cut_or_refused,
}

/// Tells as often as it can until it may end.
#[dtq::task]
async fn chatters(ctx: &Context, #[state] probe: &Probe) -> u64 {
    probe.note("runs");
    let mut told = 0;
    while !ctx.is_cancelled() {
        told += 1;
        ctx.progress(0.5, format!("{told}"));
        ctx.log(format!("{told}"));
        if told % 1000 == 0 {
            tokio::task::yield_now().await;
        }
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_often_tasks_tell_a_worker_writes_a_few_times_a_second() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let worker = b.worker().await;
    let handles = chatters::enqueue_many([(), (), ()]).on(&b.client).await.unwrap();
    b.probe.noted("runs", 3).await;
    let mut monitor = Monitor::start(w.server());
    lasting(Duration::from_secs(2)).await;
    let writes =
        monitor.seen(w.server()).iter().filter(|line| line.contains("EVALSHA") && line.contains("500000 ")).count();
    assert!((4..=10).contains(&writes), "{writes} reports in two seconds, of three tasks together");
    for handle in &handles {
        handle.cancel("enough").await.unwrap();
    }
    for handle in &handles {
        let told = handle.result(PATIENCE).await.unwrap();
        assert!(told > 1000, "{told}");
        let record = w.record(handle.id()).await;
        assert_eq!(record.progress.unwrap().message, told.to_string(), "the last value is there");
        assert_eq!((record.log.len(), record.log[99].text.clone()), (100, told.to_string()));
    }
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_tells_nothing_costs_no_command() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let worker = b.worker().await;
    let mut monitor = Monitor::start(w.server());
    super::waiting::answers_at_once::enqueue().on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
    let seen = monitor.seen(w.server());
    assert!(!seen.iter().any(|line| line.contains(":notes:") || line.contains(":log:")), "{seen:?}");
    worker.stop().await;
}

/// Tells something when it is let through the gate, and ends.
#[dtq::task]
async fn tells_late(ctx: &Context, #[state] probe: &Probe) -> u32 {
    ctx.progress(0.0, "begins");
    probe.note("runs");
    probe.gate().await;
    ctx.log("a last line");
    ctx.progress(1.0, "ends");
    7
}

/// A worker behind a proxy, with one such task that waits at the gate.
async fn behind_a_proxy(w: &World, drain: Duration) -> (Bench<'_>, Proxy, RunningWorker, Handle<u32>) {
    let proxy = Proxy::to(w.server().port()).await.unwrap();
    let b = Bench { client: Client::connect(&proxy.url()).unwrap(), ..Bench::new(w) };
    let worker = b.worker_with(Bench::config().drain_timeout(drain)).await;
    let handle = tells_late::enqueue().on(&Client::with_store(w.store())).await.unwrap();
    b.probe.noted("runs", 1).await;
    (b, proxy, worker, handle)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_in_an_outage_is_written_after_it_and_before_the_end() {
    let w = World::redis().await;
    let (b, proxy, worker, handle) = behind_a_proxy(&w, PATIENCE).await;
    proxy.set(Fault::Refuse);
    b.probe.open(1);
    lasting(Duration::from_millis(700)).await;
    assert_eq!(handle.status().await.unwrap(), Some(Status::Running));
    proxy.set(Fault::None);
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 7);
    let record = w.record(handle.id()).await;
    assert_eq!((record.progress.unwrap().message.as_str(), record.log.len()), ("ends", 1));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_written_does_not_hold_up_a_shutdown() {
    let w = World::redis().await;
    let (b, proxy, worker, handle) = behind_a_proxy(&w, Duration::from_millis(300)).await;
    proxy.set(Fault::Refuse);
    b.probe.open(1);
    let began = Instant::now();
    assert!(!worker.stop().await.drained);
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(handle.status().await.unwrap(), Some(Status::Running), "others run it again");
}
