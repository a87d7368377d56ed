//! Shutdown by signals.

use std::time::{Duration, Instant};

use dtq::types::Status;
use dtq_tests::{RedisServer, World, eventually};

use super::{Desk, PATIENCE, on_both_stores};

async fn sigterm_lets_the_running_task_end_and_fetches_nothing_new(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&[]).await;
    desk.tells("started 1").await;
    program.signal("TERM");
    program.logs("worker stops", 1).await;
    let late = desk.quick(1).await;
    desk.release();
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(0), "{}", program.log());
    assert!(after < Duration::from_secs(1), "it took {after:?} to leave after the handler's end");
    assert_eq!(slow.result(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(late.status().await.unwrap(), Some(Status::Queued));
    assert!(desk.client.workers().await.unwrap().is_empty(), "it took its leave");
}

async fn what_does_not_end_within_the_drain_timeout_is_given_back(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&["--drain-timeout", "300ms"]).await;
    desk.tells("started 1").await;
    program.signal("INT");
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(4), "{}", program.log());
    assert!((Duration::from_millis(250)..Duration::from_millis(1300)).contains(&after), "{after:?}");
    let record = slow.record().await.unwrap().unwrap();
    assert_eq!((record.status, record.attempt, record.attempts.len()), (Status::Queued, 1, 0));
    let _other = desk.worker(&["worker"]).await;
    desk.release();
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1, "the attempt was not counted");
    assert_eq!(desk.told(), ["started 1", "started 1"]);
}

async fn a_plain_function_does_not_hold_the_exit(w: &World) {
    let desk = Desk::new(w);
    let blocked = desk.enqueue::<()>("block_plainly").await;
    let program = desk.worker(&["--drain-timeout", "100ms"]).await;
    desk.tells("started 1").await;
    program.signal("TERM");
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(4), "{}", program.log());
    assert!(after < Duration::from_secs(2), "{after:?}");
    assert_eq!(blocked.status().await.unwrap(), Some(Status::Queued));
}

async fn a_second_signal_ends_it_at_once(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&[]).await;
    desk.tells("started 1").await;
    program.signal("TERM");
    program.logs("worker stops", 1).await;
    let (code, after) = program.exits_when_told_again("INT").await;
    assert_eq!(code, Some(130), "{}", program.log());
    assert!(after < Duration::from_secs(1), "{after:?}");
    assert_eq!(program.lines("second signal").len(), 1);
    assert!(!slow.status().await.unwrap().unwrap().is_terminal());
}

async fn an_idle_worker_leaves_at_once(w: &World) {
    let desk = Desk::new(w);
    let program = desk.worker(&[]).await;
    eventually("it is listed", || async { (desk.client.workers().await.unwrap().len() == 1).then_some(()) }).await;
    program.signal("TERM");
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(0), "{}", program.log());
    assert!(after < Duration::from_secs(1), "{after:?}");
}

/// More handlers that block their thread than a runtime has threads.
async fn with_all_threads_blocked(desk: &Desk, arguments: &[&str]) -> super::Program {
    let threads = std::thread::available_parallelism().unwrap().get();
    for _ in 0..threads {
        desk.enqueue::<()>("block").await;
    }
    let program = desk.worker(arguments).await;
    eventually("all threads are blocked", || async { (desk.told().len() >= threads).then_some(()) }).await;
    program
}

async fn handlers_that_block_all_threads_do_not_hold_the_exit(w: &World) {
    let desk = Desk::new(w);
    let program = with_all_threads_blocked(&desk, &["--drain-timeout", "200ms"]).await;
    program.signal("TERM");
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(4), "{}", program.log());
    assert!(after < Duration::from_secs(6), "{after:?}");
}

async fn a_second_signal_is_heard_when_handlers_block_all_threads(w: &World) {
    let desk = Desk::new(w);
    let program = with_all_threads_blocked(&desk, &[]).await;
    program.signal("TERM");
    program.logs("worker stops", 1).await;
    let (code, after) = program.exits_when_told_again("TERM").await;
    assert_eq!(code, Some(130), "{}", program.log());
    assert!(after < Duration::from_secs(1), "{after:?}");
}

#[tokio::test]
async fn a_redis_that_dies_during_the_shutdown_does_not_hold_the_exit() {
    let mut server = RedisServer::start().await;
    let desk = Desk::at(server.url());
    desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&["--drain-timeout", "500ms"]).await;
    desk.tells("started 1").await;
    program.signal("TERM");
    program.logs("worker stops", 1).await;
    server.kill();
    let began = Instant::now();
    let (code, after) = program.exits().await;
    assert_eq!(code, Some(4), "{}", program.log());
    assert!(after < Duration::from_secs(6), "{after:?} of {:?}", began.elapsed());
}

on_both_stores! {
    sigterm_lets_the_running_task_end_and_fetches_nothing_new,
    what_does_not_end_within_the_drain_timeout_is_given_back,
    a_plain_function_does_not_hold_the_exit,
    a_second_signal_ends_it_at_once,
    an_idle_worker_leaves_at_once,
    handlers_that_block_all_threads_do_not_hold_the_exit,
    a_second_signal_is_heard_when_handlers_block_all_threads,
}
