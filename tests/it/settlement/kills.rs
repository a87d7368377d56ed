//! Programs that are killed between two commands of a settlement: what repeats is a duplicate, and nothing is lost.

use std::time::Duration;

use dtq_tests::{RedisServer, eventually};

use super::GROUP;
use crate::program::Program;

const JOBS: &str = "jobs";

/// Starts the program on a server, with a point at which it freezes. It holds one message of each subscriber: one that is frozen
/// keeps it from reading the next.
async fn program(server: &RedisServer, fail_point: Option<&str>) -> Program {
    program_with(server, fail_point, "1").await
}

async fn program_with(server: &RedisServer, fail_point: Option<&str>, concurrency: &str) -> Program {
    let arguments = ["--subscribe-url", &server.url(), "--concurrency", concurrency];
    let mut command = Program::command_of(env!("CARGO_BIN_EXE_e2e_subscriber"), &arguments);
    if let Some(point) = fail_point {
        command.env("DTQ_FAIL_POINT", point);
    }
    let program = Program::start(&mut command);
    program.logs(" ready: ", 1).await;
    program
}

async fn tells(program: &Program, line: &str) {
    let told = || async { program.file("told").lines().any(|told| told == line).then_some(()) };
    eventually(&format!("it tells {line:?}\n{}", program.log()), told).await;
}

fn pending(server: &RedisServer) -> i64 {
    let (count, _, _, _): (i64, redis::Value, redis::Value, redis::Value) =
        server.command(&["XPENDING", "orders", GROUP]);
    count
}

fn order(server: &RedisServer, accepted_at: u32) {
    let payload = format!(r#"{{"id":17,"accepted_at":{accepted_at}}}"#);
    server.command::<String>(&["XADD", "orders", "*", "data", &payload, "h:trace", "7f3a"]);
}

fn processing(server: &RedisServer) -> Vec<String> {
    server.command(&["KEYS", "{jobs}:processing:*"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_killed_between_xadd_and_xack_is_a_duplicate_and_no_loss() {
    let server = RedisServer::start().await;
    let killed = program(&server, Some("message.between")).await;
    order(&server, 2);
    killed.logs("fail point message.between", 1).await;
    let copies: i64 = server.command(&["XLEN", "orders"]);
    assert_eq!((copies, pending(&server)), (2, 1), "both are there");
    killed.kill();
    let next = program(&server, None).await;
    tells(&next, "order 17 #2 trace 7f3a").await;
    // The original waits for whoever takes over: this form has no idle time.
    eventually("the copy is acknowledged", || async { (pending(&server) == 1).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_dead_letter_killed_before_xack_is_a_duplicate_and_no_loss() {
    let server = RedisServer::start().await;
    let killed = program(&server, Some("message.between")).await;
    server.command::<String>(&["XADD", "orders", "*", "data", "no json"]);
    killed.logs("fail point message.between", 1).await;
    let dead: i64 = server.command(&["XLEN", "orders.dead"]);
    assert_eq!((dead, pending(&server)), (1, 1), "both are there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reliable_list_killed_before_its_settlement_comes_back() {
    let server = RedisServer::start().await;
    let killed = program(&server, Some("message.before")).await;
    server.command::<i64>(&["LPUSH", JOBS, "twice a"]);
    killed.logs("fail point message.before", 1).await;
    killed.kill();
    let next = program(&server, None).await;
    server.advance(Duration::from_secs(3));
    // It had begun: that attempt counts.
    tells(&next, "job twice a #2").await;
    eventually("it is settled", || async { processing(&server).is_empty().then_some(()) }).await;
}

/// `LPUSH` and `LREM` are one step of the server: a kill finds both or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reliable_list_retry_killed_after_lpush_has_its_lrem_too() {
    let server = RedisServer::start().await;
    let killed = program(&server, Some("settle message.applied")).await;
    server.command::<i64>(&["LPUSH", JOBS, "twice a"]);
    killed.logs("fail point settle message.applied", 1).await;
    killed.kill();
    assert_eq!(processing(&server), Vec::<String>::new());
    let left: Vec<String> = server.command(&["LRANGE", JOBS, "0", "-1"]);
    assert_eq!(left, ["dtq/1\ndtq-retries: 1\n\ntwice a"]);
    let next = program(&server, None).await;
    tells(&next, "job twice a #2").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_claiming_and_reliable_list_are_acked_by_a_program_that_ends_when_told() {
    let server = RedisServer::start().await;
    let program = program(&server, None).await;
    order(&server, 1);
    server.command::<String>(&["XADD", "shipments", "*", "id", "9", "weight", "2", "h:trace", "x"]);
    server.command::<i64>(&["LPUSH", JOBS, "once"]);
    for line in ["order 17 #1 trace 7f3a", "shipment 9 of 2 #1", "job once #1"] {
        tells(&program, line).await;
    }
    program.signal("TERM");
    assert_eq!(program.exits().await.0, Some(0), "{}", program.log());
    assert_eq!(pending(&server), 0);
    let consumers: Vec<redis::Value> = server.command(&["XINFO", "CONSUMERS", "orders", GROUP]);
    assert!(consumers.is_empty(), "it took leave: {consumers:?}");
    let (reads, warns) = (program.lines("subscribed").len(), program.lines("set min_idle").len());
    assert_eq!((reads, warns), (3, 1), "{}", program.log());
}

/// A worker that was stopped for longer than min_idle finishes after another one has taken over: its end is refused, the message
/// stays the other's, and when that one dies it comes back once more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claiming_ack_of_a_worker_that_was_stopped_too_long_is_refused() {
    let server = RedisServer::start().await;
    let stopped = program(&server, None).await;
    server.command::<String>(&["XADD", "shipments", "*", "id", "9", "slow", "yes"]);
    tells(&stopped, "shipment 9 of 2 #1").await;
    stopped.signal("STOP");
    let second = program(&server, None).await;
    server.advance(Duration::from_secs(3));
    tells(&second, "shipment 9 of 2 #2").await;
    let owner =
        || -> Vec<(String, String, i64, i64)> { server.command(&["XPENDING", "shipments", GROUP, "-", "+", "9"]) };
    let before = owner();
    stopped.signal("CONT");
    stopped.touch("release");
    stopped.logs("this attempt's end was refused", 1).await;
    let after = owner();
    assert_eq!((&after[0].1, after.len()), (&before[0].1, 1), "it is still the other one's");
    second.kill();
    server.advance(Duration::from_secs(3));
    tells(&stopped, "shipment 9 of 2 #3").await;
    let acked = || async { owner().is_empty().then_some(()) };
    eventually("it is acknowledged", acked).await;
}

/// A sign of life that crosses an acknowledgement on its way finds nothing pending: that is no loss, and nobody is called off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claiming_ack_of_many_is_never_taken_for_a_loss() {
    const COUNT: usize = 5000;
    let server = RedisServer::start().await;
    let program = program_with(&server, None, "64").await;
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let mut pipeline = redis::pipe();
    for n in 0..COUNT {
        pipeline.cmd("XADD").arg("shipments").arg("*").arg("id").arg(n).ignore();
    }
    pipeline.exec(&mut connection).unwrap();
    let acked = || async {
        let groups: Vec<Vec<redis::Value>> = server.command(&["XINFO", "GROUPS", "shipments"]);
        let done = program.file("told").matches("shipment ").count() >= COUNT;
        (done && groups[0][5] == redis::Value::Int(0)).then_some(())
    };
    eventually("all are acknowledged", acked).await;
    assert_eq!(program.lines("lease lost").len(), 0, "{}", program.log());
}

/// A stream that is gone again and again: the program goes on, and its log stays short.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_that_vanishes_is_acked_again_and_told_in_few_lines() {
    let server = RedisServer::start().await;
    let program = program(&server, None).await;
    let lines = program.log().lines().count();
    for n in 1..=3 {
        server.command::<()>(&["FLUSHALL"]);
        server.command::<String>(&["XADD", "orders", "*", "data", &format!(r#"{{"id":{n},"accepted_at":1}}"#)]);
        tells(&program, &format!("order {n} #1 trace none")).await;
    }
    let told: Vec<_> = program.log().lines().skip(lines).map(str::to_owned).collect();
    assert!(told.len() <= 10, "{told:#?}");
    assert!(told.iter().any(|line| line.contains("the consumer group was gone and was made again")), "{told:#?}");
}
