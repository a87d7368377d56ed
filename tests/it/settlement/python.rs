//! The example `messages`: a producer in Python, by redis-py alone, and a worker of dtq.

use std::path::Path;
use std::process::Command;

use dtq_tests::{RedisServer, eventually};

use crate::program::Program;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_and_list_of_a_python_program_are_acked_and_what_is_wrong_is_a_dead_letter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let client = root.join("target/servers/python");
    assert!(client.join("redis").exists(), "redis-py is missing: run tests/fetch-servers.sh");
    let server = RedisServer::start().await;
    let example = root.join("target/debug/examples/messages");
    assert!(example.exists(), "build the examples first: cargo build --examples");
    let mut command = Program::command_of(example.to_str().unwrap(), &[]);
    let worker = Program::start(command.env("DTQ_SUBSCRIBE_URL", server.url()));
    worker.logs(" ready: ", 1).await;
    let mut producer = Command::new("python3");
    producer.arg(root.join("examples/messages/producer.py")).args([&server.url(), "10"]).env("PYTHONPATH", client);
    let written = producer.output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    worker.logs("order taken", 10).await;
    worker.logs("receipt sent", 10).await;
    worker.logs("printed", 11).await;
    worker.logs("given up: dead letter", 2).await;
    assert_eq!(worker.lines("source=\"producer.py\"").len(), 10, "{}", worker.log());
    assert!(worker.lines("paper jam")[0].contains("attempt=2"), "{}", worker.log());
    let pending = || async {
        let (count, _, _, _): (i64, redis::Value, redis::Value, redis::Value) =
            server.command(&["XPENDING", "orders", "billing"]);
        (count == 0).then_some(())
    };
    eventually("nothing is pending", pending).await;
    let dead: Vec<(String, Vec<String>)> = server.command(&["XRANGE", "orders.dead", "-", "+"]);
    let dead: Vec<_> = dead.into_iter().map(|(_, fields)| fields.join(" ")).collect();
    assert!(
        dead.iter().any(|fields| fields.contains("this is no JSON") && fields.contains("h:dtq-kind undecodable")),
        "{dead:?}"
    );
    assert!(dead.iter().any(|fields| fields.contains("order 0 costs nothing")), "{dead:?}");
    // Each customer's orders in their order.
    let taken = worker.lines("order taken");
    for customer in 0..3 {
        let of: Vec<u32> = taken
            .iter()
            .filter(|line| line.contains(&format!("customer-{customer}")))
            .map(|line| order(line))
            .collect();
        assert!(of.len() >= 3 && of.is_sorted(), "{of:?}");
    }
    worker.signal("TERM");
    assert_eq!(worker.exits().await.0, Some(0));
}

/// The order's number out of a log line.
fn order(line: &str) -> u32 {
    let (_, rest) = line.split_once("order=").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}
