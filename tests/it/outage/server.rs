//! Redis goes away and comes back under running workers.

use std::sync::Arc;
use std::time::Duration;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::{Client, ResultError};
use dtq_tests::{RedisServer, World, eventually, lasting};

use super::{LASTING, Site, Use, assert_works, outages, troubles};
use crate::program::{Desk, PATIENCE, Program};
use crate::worker::{Bench, Probe};

/// A server that keeps its data, and a desk on it.
async fn lasting_server() -> (RedisServer, Desk) {
    let server = RedisServer::start_with(&LASTING).await;
    let desk = Desk::at(server.url());
    (server, desk)
}

#[tokio::test]
async fn an_idle_worker_goes_on_when_redis_was_restarted_and_says_it_once() {
    let (mut server, desk) = lasting_server().await;
    let program = desk.worker(&[]).await;
    desk.quick(0).await.result(PATIENCE).await.unwrap();
    for outage in 1..=2 {
        server.kill();
        program.logs("the store failed", outage).await;
        server.start_again().await;
        assert_works(&desk, &program).await;
        program.logs("the store works again", outage).await;
        // Its other loops find out within a heartbeat.
        eventually("it is listed", || async { desk.client.workers().await.ok().filter(|all| !all.is_empty()) }).await;
        assert_eq!(outages(&program), outage, "{}", program.log());
    }
}

#[tokio::test]
async fn a_worker_that_was_started_before_redis_works_when_it_is_there() {
    let (mut server, desk) = lasting_server().await;
    server.kill();
    let program = Program::start(Program::command(&[]).env("DTQ_URL", &desk.url));
    program.logs("the worker starts and waits for it", 1).await;
    server.start_again().await;
    assert_works(&desk, &program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_idle_says_nothing_and_connects_no_more() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let info = || site.server.command::<String>(&["INFO", "stats"]);
    let connections = || {
        let info = info();
        let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    let (watch, before) = (Use::of(&program), connections());
    lasting(Duration::from_secs(3)).await;
    watch.assert_calm(0);
    // The second question is a connection by itself.
    assert!(connections() <= before + 2, "{} instead of {before}", connections());
}

/// Ends the server by signal 9 and starts it again after a while. A task that runs meanwhile is settled once, unless the
/// server forgot it; what is enqueued afterwards runs.
async fn restart(arguments: &[&str], keeps: bool) {
    let mut site = Site::with(arguments).await;
    let workers = [site.worker(&[]).await, site.worker(&[]).await];
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    // With appendfsync everysec, the last second may be lost.
    lasting(Duration::from_millis(1100)).await;
    let uses = workers.each_ref().map(Use::of);
    site.server.kill();
    site.desk.release();
    lasting(Duration::from_secs(2)).await;
    site.server.start_again().await;
    assert_works(&site.desk, &workers[0]).await;
    for handle in site.desk.naps(0, 20, 10).await {
        handle.result(PATIENCE).await.unwrap();
    }
    match slow.result(PATIENCE).await {
        Ok(attempt) => assert!(keeps && attempt == 1),
        Err(error) => assert!(!keeps && matches!(error, ResultError::NotKept { .. }), "{error}"),
    }
    for (program, watch) in workers.iter().zip(uses) {
        program.logs("the store works again", 1).await;
        // The outage, its end; and of a task that the server forgot, that its lease was lost.
        watch.assert_calm(2 + usize::from(!keeps));
        assert_eq!(outages(program), 1, "{}", program.log());
    }
    assert_eq!(site.desk.count("started 1"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_with_every_write_synced_loses_nothing() {
    restart(&LASTING, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_with_a_sync_each_second_keeps_what_is_older() {
    restart(&["--appendonly", "yes", "--appendfsync", "everysec"], true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_without_persistence_loses_tasks_and_no_worker() {
    restart(&[], false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_stopped_for_longer_than_an_answer_may_take_goes_on() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let watch = Use::of(&program);
    site.server.pause();
    site.desk.release();
    lasting(Duration::from_millis(5500)).await;
    watch.assert_calm(1);
    site.server.resume();
    assert_works(&site.desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    program.logs("the store works again", 1).await;
    assert_eq!(outages(&program), 1, "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn pauses_shorter_than_an_answer_may_take_are_no_trouble() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    for kind in ["ALL", "WRITE", "ALL"] {
        // A fetch is on its way: the worker is idle.
        let _: () = site.server.command(&["CLIENT", "PAUSE", "1000", kind]);
        for handle in site.desk.naps(0, 70, 1).await {
            handle.result(PATIENCE).await.unwrap();
        }
    }
    assert_eq!(troubles(&program), [""; 0]);
}

#[dtq::task(max_attempts = 1)]
async fn runs_after_a_claim_given_up(#[state] probe: &Probe) {
    probe.note("ran");
}

/// The server applies claims whose answers nobody hears any more: their tasks run at once when it answers again, and lose no
/// attempt by it.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_was_handed_to_a_claim_given_up_runs_when_the_server_answers() {
    let w = World::redis().await;
    let impatient = RedisOptions { response_timeout: Duration::from_millis(200), ..RedisOptions::default() };
    let mut b = Bench::new(&w);
    b.client = Client::with_store(Arc::new(RedisStore::connect(&w.server().url(), impatient).unwrap()));
    let worker = b.worker().await;
    let patient = Client::with_store(w.store());
    let mut handles = Vec::new();
    for _ in 0..5 {
        w.server().pause();
        let call = runs_after_a_claim_given_up::enqueue().on(&patient);
        let sent = tokio::spawn(async move { call.await });
        lasting(Duration::from_millis(500)).await;
        w.server().resume();
        handles.push(sent.await.unwrap().unwrap());
    }
    for handle in handles {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_eq!(b.probe.count("ran"), 5);
    worker.stop().await;
}

#[tokio::test]
async fn a_redis_that_falls_silent_during_the_shutdown_does_not_hold_the_exit() {
    let server = RedisServer::start().await;
    let desk = Desk::at(server.url());
    let program = desk.worker(&["--drain-timeout", "500ms"]).await;
    desk.enqueue::<u32>("slow").await;
    desk.tells("started 1").await;
    server.pause();
    program.signal("TERM");
    let (code, after) = program.exits().await;
    server.resume();
    assert_eq!(code, Some(4), "{}", program.log());
    assert!(after < Duration::from_secs(6), "{after:?}");
}
