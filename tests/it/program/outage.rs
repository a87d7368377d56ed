//! Redis goes away and comes back under running workers.

use std::time::{Duration, Instant};

use dtq_tests::{RedisServer, eventually};

use super::{Desk, PATIENCE, Program};

/// A server that keeps its data, and a desk on it.
async fn lasting() -> (RedisServer, Desk) {
    let server = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let desk = Desk::at(server.url());
    (server, desk)
}

/// How long a task takes from now to its end.
async fn time_of_a_task(desk: &Desk) -> Duration {
    let began = Instant::now();
    // The client's own connection has to be made anew, too.
    let handle = eventually("a task is accepted", || desk.try_quick(1)).await;
    eventually("a result comes", || async { handle.result(PATIENCE).await.ok() }).await;
    began.elapsed()
}

fn warnings(program: &Program) -> Vec<String> {
    program.lines(" WARN ").into_iter().filter(|line| line.contains("the store failed")).collect()
}

#[tokio::test]
async fn an_idle_worker_goes_on_when_redis_was_restarted_and_says_it_once() {
    let (mut server, desk) = lasting().await;
    let program = desk.worker(&[]).await;
    desk.quick(0).await.result(PATIENCE).await.unwrap();
    for outage in 1..=2 {
        server.kill();
        program.logs("the store failed", outage).await;
        server.start_again().await;
        let took = time_of_a_task(&desk).await;
        assert!(took < Duration::from_secs(2), "{took:?}\n{}", program.log());
        program.logs("the store works again", outage).await;
        // Its other loops find out within a heartbeat.
        eventually("it is listed", || async { desk.client.workers().await.ok().filter(|all| !all.is_empty()) }).await;
        assert_eq!(warnings(&program).len(), outage, "{}", program.log());
    }
}

#[tokio::test]
async fn a_busy_worker_goes_on_when_redis_was_restarted_and_its_task_ends_once() {
    let (mut server, desk) = lasting().await;
    let slow = desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&["--lease", "20s"]).await;
    desk.tells("started 1").await;
    server.kill();
    program.logs("the store failed", 1).await;
    // It ends while nobody can hear of it.
    desk.release();
    server.start_again().await;
    let took = time_of_a_task(&desk).await;
    assert!(took < Duration::from_secs(2), "{took:?}\n{}", program.log());
    let result = eventually("its end is settled", || async { slow.result(PATIENCE).await.ok() }).await;
    assert_eq!(result, 1);
    assert_eq!(desk.told(), ["started 1"]);
    assert_eq!(warnings(&program).len(), 1, "{}", program.log());
}

#[tokio::test]
async fn a_worker_that_was_started_before_redis_works_when_it_is_there() {
    let (mut server, desk) = lasting().await;
    server.kill();
    let program = Program::start(Program::command(&[]).env("DTQ_URL", &desk.url));
    program.logs("the worker starts and waits for it", 1).await;
    server.start_again().await;
    let took = time_of_a_task(&desk).await;
    assert!(took < Duration::from_secs(2), "{took:?}\n{}", program.log());
}

#[tokio::test]
async fn a_worker_goes_on_after_a_restart_that_lost_everything() {
    let mut server = RedisServer::start().await;
    let desk = Desk::at(server.url());
    let program = desk.worker(&[]).await;
    desk.quick(0).await.result(PATIENCE).await.unwrap();
    server.kill();
    program.logs("the store failed", 1).await;
    server.start_again().await;
    let took = time_of_a_task(&desk).await;
    assert!(took < Duration::from_secs(2), "{took:?}\n{}", program.log());
}
