//! Connections of a worker process to a Redis server.

use dtq_tests::{World, eventually};

use super::{Bench, PATIENCE, Probe};

#[dtq::task]
async fn occupies_a_connection(#[state] probe: &Probe, n: u32) -> u32 {
    probe.gate().await;
    n
}

/// The latest command of each connection, but for the one that asks.
fn connected(w: &World) -> Vec<String> {
    let clients: String = w.server().command(&["CLIENT", "LIST"]);
    let commands = clients.lines().filter_map(|client| client.split(' ').find_map(|word| word.strip_prefix("cmd=")));
    let mut commands: Vec<_> = commands.filter(|command| *command != "client|list").map(ToOwned::to_owned).collect();
    commands.sort();
    commands
}

/// How many connections the server ever took.
fn taken(w: &World) -> u64 {
    let about: String = w.server().command(&["INFO", "stats"]);
    let count = about.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    count.unwrap().trim().parse().unwrap()
}

/// Two for the worker and the client that enqueues beside it: one that all commands share, and one for what blocks, here the
/// wait for work. And two for the thread that renews leases, since a handler that blocks the main runtime must not starve
/// it: one for commands, and one that waits for tasks that are called off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_share_one_connection_and_waits_another_on_each_runtime() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let worker = b.worker().await;
    // It has run something, so that it has used all there is, and waits for more.
    let first = occupies_a_connection::enqueue(0).on(&b.client).await.unwrap();
    let all = |connected: &[String]| {
        let blocked = |command: &str| connected.iter().filter(|it| *it == command).count() == 1;
        blocked("blpop") && blocked("xread")
    };
    eventually("both kinds of waits are there", || async { all(&connected(&w)).then_some(()) }).await;
    let before = taken(&w);
    b.probe.open(101);
    let calls = (1..=100).map(|n| {
        let client = b.client.clone();
        tokio::spawn(async move { occupies_a_connection::enqueue(n).on(&client).await.unwrap() })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        let id = call.await.unwrap().id().clone();
        eventually("it has ended", || async {
            b.client.get(&id).await.unwrap().filter(|record| record.status.is_terminal())
        })
        .await;
    }
    assert_eq!(taken(&w), before + 1, "only this test has opened one meanwhile");
    let connected = connected(&w);
    assert_eq!(connected.len(), 4, "{connected:?}");
    assert_eq!(first.result(PATIENCE).await.unwrap(), 0);
    worker.stop().await;
    eventually("the worker's own connections are closed", || async { (self::connected(&w).len() <= 3).then_some(()) })
        .await;
}
