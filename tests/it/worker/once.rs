//! `ctx.once` in handlers.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{ErrorKind, Status};
use dtq_tests::{World, eventually};

use super::{Bench, PATIENCE, Probe, failures, on_both_stores};

const HOUR: Duration = Duration::from_secs(3600);

/// Pays once, then fails twice.
#[dtq::task(max_attempts = 3, backoff = fixed("10ms"))]
async fn pays_then_fails(ctx: &Context, #[state] probe: &Probe) -> Result<String, TaskError> {
    let pay = || async {
        probe.note("pays");
        Ok::<_, std::io::Error>(format!("receipt of attempt {}", ctx.attempt()))
    };
    let receipt: String = ctx.once("pay", HOUR, pay).await?;
    if ctx.attempt() < 3 { Err(TaskError::new("the mail server is away")) } else { Ok(receipt) }
}

async fn a_retry_does_not_repeat_what_was_done(w: &World) {
    let b = Bench::new(w);
    let handle = pays_then_fails::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker().await;
    let result = eventually("it succeeds", || async {
        w.advance(Duration::from_millis(20));
        handle.result(Duration::from_millis(20)).await.ok()
    });
    assert_eq!(result.await, "receipt of attempt 1");
    assert_eq!(b.probe.count("pays"), 1);
    worker.stop().await;
}

/// Fails inside on its first attempt, in one of several ways.
#[dtq::task(max_attempts = 2, backoff = fixed("10ms"))]
async fn fails_inside(ctx: &Context, #[state] probe: &Probe, how: String) -> Result<u32, TaskError> {
    let work = || async {
        probe.note("works");
        match how.as_str() {
            _ if ctx.attempt() == 2 => Ok(2),
            "permanent" => Err(TaskError::permanent("no such account")),
            "panic" => panic!("inside"),
            _ => Err(TaskError::new("try again")),
        }
    };
    Ok(ctx.once(format!("inside-{how}"), HOUR, work).await?)
}

async fn what_failed_inside_is_done_again_by_the_next_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for how in ["error", "panic"] {
        let handle = fails_inside::enqueue(how.into()).on(&b.client).await.unwrap();
        let result = eventually("it succeeds", || async {
            w.advance(Duration::from_millis(20));
            handle.result(Duration::from_millis(20)).await.ok()
        });
        assert_eq!(result.await, 2, "{how}");
    }
    assert_eq!(b.probe.count("works"), 4);
    worker.stop().await;
}

async fn an_error_inside_keeps_what_it_asks_for(w: &World) {
    let b = Bench::new(w);
    let handle = fails_inside::enqueue("permanent".into()).on(&b.client).await.unwrap();
    let worker = b.worker().await;
    handle.result(PATIENCE).await.unwrap_err();
    let record = w.record(handle.id()).await;
    assert_eq!(record.status, Status::DeadLettered);
    assert_eq!(failures(&record), [(1, ErrorKind::Permanent, "no such account")]);
    worker.stop().await;
}

/// Holds the key until the gate opens.
#[dtq::task]
async fn shares(ctx: &Context, #[state] probe: &Probe) -> Result<usize, TaskError> {
    probe.note("asks");
    let work = || async {
        probe.note("is at it");
        probe.gate().await;
        Ok::<_, TaskError>(probe.count("is at it"))
    };
    Ok(ctx.once("shared", HOUR, work).await?)
}

async fn tasks_that_share_a_key_wait_for_the_first_and_get_its_result(w: &World) {
    let b = Bench::new(w);
    let (one, two) = (b.worker().await, b.worker().await);
    let handles = shares::enqueue_many((0..6).map(|_| ())).on(&b.client).await.unwrap();
    b.probe.noted("asks", 6).await;
    b.probe.open(1);
    for handle in handles {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    }
    assert_eq!(b.probe.count("is at it"), 1);
    one.stop().await;
    two.stop().await;
}

/// Asks twice at once within one attempt, and once more after a run that was dropped half-way.
#[dtq::task]
async fn asks_twice(ctx: &Context, #[state] probe: &Probe) -> Result<(u32, u32, u32), TaskError> {
    let work = || async {
        probe.note("twice");
        tokio::task::yield_now().await;
        Ok::<u32, TaskError>(7)
    };
    let (a, b) = tokio::join!(ctx.once("both", HOUR, work), ctx.once("both", HOUR, work));
    let never = || async { std::future::pending::<Result<u32, TaskError>>().await };
    let dropped = tokio::time::timeout(Duration::from_millis(50), ctx.once("dropped", HOUR, never)).await;
    assert!(dropped.is_err());
    Ok((a?, b?, ctx.once("dropped", HOUR, work).await?))
}

async fn one_attempt_may_ask_twice_and_drop_a_run(w: &World) {
    let b = Bench::new(w);
    let handle = asks_twice::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker().await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), (7, 7, 7));
    assert_eq!(b.probe.count("twice"), 2, "once for each key");
    worker.stop().await;
}

/// Its first run never ends.
#[dtq::task(max_attempts = 2, backoff = fixed("10ms"))]
async fn is_cut_off(ctx: &Context, #[state] probe: &Probe, key: String) -> Result<u32, TaskError> {
    let work = || async {
        probe.note("begins");
        if probe.count("begins") == 1 {
            std::future::pending::<()>().await;
        }
        Ok::<_, TaskError>(ctx.attempt())
    };
    Ok(ctx.once(key, HOUR, work).await?)
}

async fn what_a_timeout_cut_off_is_done_again(w: &World) {
    let b = Bench::new(w);
    let call = is_cut_off::enqueue("timeout".into()).timeout(Duration::from_millis(50));
    let handle = call.on(&b.client).await.unwrap();
    let worker = b.worker().await;
    let result = eventually("it succeeds", || async {
        w.advance(Duration::from_millis(20));
        handle.result(Duration::from_millis(20)).await.ok()
    });
    assert_eq!(result.await, 2);
    assert_eq!(b.probe.count("begins"), 2);
    worker.stop().await;
}

async fn what_a_shutdown_cut_off_is_done_again_in_the_same_attempt(w: &World) {
    let b = Bench::new(w);
    let handle = is_cut_off::enqueue("shutdown".into()).on(&b.client).await.unwrap();
    let leaves = b.worker_with(Bench::config().drain_timeout(Duration::ZERO)).await;
    b.probe.noted("begins", 1).await;
    leaves.stop().await;
    let stays = b.worker().await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(b.probe.count("begins"), 2);
    stays.stop().await;
}

/// Asks with keys that cannot be, and for another type than is remembered.
#[dtq::task(max_attempts = 5)]
async fn asks_wrongly(ctx: &Context, how: String) -> Result<(), TaskError> {
    let work = || async { Ok::<_, TaskError>(String::from("text")) };
    match how.as_str() {
        "empty" => drop(ctx.once("", HOUR, work).await?),
        "long" => drop(ctx.once("k".repeat(513), HOUR, work).await?),
        _ => {
            ctx.once("typed", HOUR, work).await?;
            let number = || async { Ok::<u32, TaskError>(1) };
            ctx.once("typed", HOUR, number).await?;
        }
    }
    Ok(())
}

async fn what_can_never_work_is_permanent_and_says_why(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for (how, why) in [
        ("empty", "the key of ctx.once has 0 bytes; it must have 1 to 512"),
        ("long", "the key of ctx.once has 513 bytes; it must have 1 to 512"),
        ("type", "the remembered result of \"typed\" is not of the type that is asked for"),
    ] {
        let handle = asks_wrongly::enqueue(how.into()).on(&b.client).await.unwrap();
        handle.result(PATIENCE).await.unwrap_err();
        let record = w.record(handle.id()).await;
        let (_, kind, message) = failures(&record).remove(0);
        assert_eq!(kind, ErrorKind::Permanent);
        assert!(message.starts_with(why), "{message}");
    }
    worker.stop().await;
}

on_both_stores! {
    a_retry_does_not_repeat_what_was_done,
    what_failed_inside_is_done_again_by_the_next_attempt,
    an_error_inside_keeps_what_it_asks_for,
    tasks_that_share_a_key_wait_for_the_first_and_get_its_result,
    one_attempt_may_ask_twice_and_drop_a_run,
    what_a_timeout_cut_off_is_done_again,
    what_a_shutdown_cut_off_is_done_again_in_the_same_attempt,
    what_can_never_work_is_permanent_and_says_why,
}

/// How many scripts the server has refused to run.
fn rejected(tell: &mut impl FnMut(&[&str]) -> ::redis::Value) -> u64 {
    let stats: String = ::redis::from_redis_value(tell(&["INFO", "commandstats"])).unwrap();
    let line = stats.lines().find(|line| line.starts_with("cmdstat_evalsha:")).unwrap();
    let count = line.split("rejected_calls=").nth(1).unwrap().split(',').next().unwrap();
    count.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_is_not_forgotten_while_a_password_is_changed() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = shares::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker().await;
    b.probe.noted("is at it", 1).await;
    // A connection that was let in before stays so.
    let mut inside = ::redis::Client::open(w.server().url()).unwrap().get_connection().unwrap();
    let mut tell =
        |words: &[&str]| -> ::redis::Value { ::redis::cmd(words[0]).arg(&words[1..]).query(&mut inside).unwrap() };
    tell(&["CONFIG", "SET", "requirepass", "another"]);
    tell(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    b.probe.open(1);
    for _ in 0..5 {
        // Each look waits for one more call that is refused.
        let before = rejected(&mut tell);
        eventually("a call is refused", || std::future::ready((rejected(&mut tell) > before).then_some(()))).await;
    }
    tell(&["CONFIG", "SET", "requirepass", ""]);
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(b.probe.count("is at it"), 1);
    worker.stop().await;
}

#[tokio::test]
async fn a_context_of_no_worker_remembers_by_itself() {
    let ctx = Context::detached();
    let mut runs = 0;
    for _ in 0..2 {
        let work = || {
            runs += 1;
            async { Ok::<u32, TaskError>(5) }
        };
        assert_eq!(ctx.once("k", HOUR, work).await.unwrap(), 5);
    }
    assert_eq!(runs, 1);
}
