//! What acting by hand leaves on a server, and what it costs there.

use std::time::Duration;

use dtq::store::{RequeueFrom, Settlement, Steer, Steered, TaskQuery, Verdict};
use dtq::types::{ListOrder, Status, TaskFilter, TaskId};
use dtq_tests::{DEFAULT, Monitor, World, failure, queue, task, want};

fn requeue() -> Steer {
    Steer::Requeue { from: RequeueFrom::Unsuccessful, payload: None }
}

async fn dead(w: &World) -> TaskId {
    let held = w.running(task("a")).await;
    w.fail(&held).await;
    held.lease.task
}

fn of_task(w: &World, id: &TaskId) -> Vec<String> {
    w.server().keys().into_iter().filter(|key| key.contains(&id.uuid().to_string())).collect()
}

fn listed(w: &World) -> usize {
    w.server().command(&["XLEN", "dtq:{default}:dlq"])
}

#[tokio::test]
async fn raw_keys_a_requeued_task_has_no_time_to_live_and_no_letter() {
    let w = World::redis().await;
    let id = dead(&w).await;
    w.requeue(&id).await;
    let keys = of_task(&w, &id);
    assert_eq!(keys.len(), 1);
    assert_eq!(w.server().command::<i64>(&["PTTL", &keys[0]]), -1);
    assert_eq!(listed(&w), 0);
}

#[tokio::test]
async fn raw_keys_discarding_leaves_the_record_its_time_and_purging_leaves_nothing() {
    let w = World::redis().await;
    let (discarded, purged) = (dead(&w).await, dead(&w).await);
    w.advance(Duration::from_secs(10 * 24 * 3600));
    w.steer_one(&discarded, Steer::Discard).await;
    w.steer_one(&purged, Steer::Purge).await;
    let keys = of_task(&w, &discarded);
    let left: i64 = w.server().command(&["PTTL", &keys[0]]);
    let twenty_days = 20 * 24 * 3600 * 1000;
    assert!((twenty_days - 60_000..=twenty_days).contains(&left), "{left}");
    assert_eq!((of_task(&w, &purged), listed(&w)), (vec![], 0));
}

#[tokio::test]
async fn raw_keys_a_forgotten_result_is_gone() {
    let w = World::redis().await;
    let held = w.running(task("a")).await;
    w.succeed(&held).await;
    let id = held.lease.task;
    assert_eq!(of_task(&w, &id).len(), 2, "record and result");
    w.steer_one(&id, Steer::Requeue { from: RequeueFrom::Finished, payload: None }).await;
    assert_eq!(of_task(&w, &id).len(), 1);
}

#[tokio::test]
async fn raw_keys_a_full_server_lets_dead_letters_be_dealt_with() {
    let w = World::redis().await;
    let (one, two, three) = (dead(&w).await, dead(&w).await, dead(&w).await);
    let waiting = w.enqueue(task("a").delay(Duration::from_secs(60))).await;
    let _: String = w.server().command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(w.store().enqueue(vec![task("a").build()]).await.is_err());
    for (id, action) in [(&one, Steer::Purge), (&two, Steer::Discard), (&three, requeue())] {
        assert_eq!(w.steer_one(id, action).await, Steered::Done);
    }
    assert_eq!(w.steer_one(&waiting, Steer::Cancel { statuses: vec![] }).await, Steered::Done);
}

/// The keys that commands of these names touched while `act` ran, without the uuid.
async fn touched(w: &World, names: &[&str], act: impl AsyncFnOnce()) -> Vec<String> {
    let mut monitor = Monitor::start(w.server());
    act().await;
    let words = |line: &String| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let seen: Vec<_> = monitor.seen(w.server()).iter().map(words).collect();
    let wanted = seen.into_iter().filter(|words| names.contains(&words[0].to_uppercase().as_str()));
    wanted.map(|words| format!("{} {}", words[0].to_uppercase(), words[1].split(":task:").next().unwrap())).collect()
}

#[tokio::test]
async fn raw_keys_write_order_of_a_requeue() {
    let w = World::redis().await;
    let id = dead(&w).await;
    let names = ["SET", "XADD", "XDEL", "DEL", "XACK"];
    let steps = touched(&w, &names, async || w.requeue(&id).await).await;
    let expected = [
        "XADD dtq:{default}:stream:p5",
        "SET dtq:{default}",
        "XDEL dtq:{default}:dlq",
        "XADD dtq:{default}:events",
        "XADD dtq:{default}:audit",
    ];
    assert_eq!(steps, expected);
}

#[tokio::test]
async fn raw_keys_a_listing_writes_nothing() {
    let w = World::redis().await;
    // Backwards, so that no earlier task is in the way of a later one.
    for status in Status::ALL.into_iter().rev() {
        w.bring(status, task("a").queue("all").priority(3)).await;
    }
    let writes =
        ["SET", "XADD", "XDEL", "DEL", "XACK", "ZADD", "ZREM", "HSET", "EXPIRE", "PERSIST", "APPEND", "XCLAIM"];
    let steps = touched(&w, &writes, async || {
        for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
            let (statuses, filter) = (Vec::new(), TaskFilter::default());
            let query = TaskQuery { queue: queue("all"), statuses, filter, order, after: None, limit: 2 };
            assert_eq!(w.list(query).await.len(), 9);
        }
    })
    .await;
    assert_eq!(steps, [""; 0]);
}

#[tokio::test]
async fn raw_keys_a_listing_of_finished_tasks_sees_no_other_queues_and_no_other_prefix() {
    let w = World::redis().await;
    for name in ["a", "a.b", "a-", "A"] {
        let held = w.running(task("x").queue(name)).await;
        w.succeed(&held).await;
    }
    let _: String = w.server().command(&["SET", "other:{a}:task:0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e", "S1 5 9 0\n"]);
    let query = TaskQuery {
        queue: queue("a"),
        statuses: vec![Status::Succeeded],
        filter: TaskFilter::default(),
        order: ListOrder::OldestFirst,
        after: None,
        limit: 10,
    };
    assert_eq!(w.list(query).await.len(), 1);
}

#[tokio::test]
async fn raw_keys_a_letter_that_names_no_place_can_be_dealt_with() {
    let w = World::redis().await;
    let id = dead(&w).await;
    // As a version wrote it that had no such section.
    let key = of_task(&w, &id).remove(0);
    let record: Vec<u8> = w.server().command(&["GET", &key]);
    let at = record.windows(2).rposition(|two| two[0] == b'd' && two[1].is_ascii_digit()).unwrap();
    let text = String::from_utf8(record[..at].to_vec()).unwrap();
    let _: String = w.server().command(&["SET", &key, &text, "PX", "100000"]);
    w.requeue(&id).await;
    assert_eq!(listed(&w), 0, "it is found on the list all the same");
    let again = w.claim_one().await;
    w.fail(&again).await;
    assert_eq!((listed(&w), w.dead_letters().await.len()), (1, 1));
}

#[tokio::test]
async fn raw_keys_a_step_of_many_targets_is_one_script() {
    let w = World::redis().await;
    let ids = w.enqueue_many(128, || task("a")).await;
    let fail = |delivery| Settlement { delivery, verdict: Verdict::Failed { failure: failure("x") } };
    let settlements = w.drain(want(128)).await.into_iter().map(fail).collect();
    w.store().settle(settlements).await.unwrap();
    let targets = ids.into_iter().map(Into::into).collect();
    let calls = touched(&w, &["EVALSHA", "EVAL"], async || drop(w.steer(targets, requeue()).await)).await;
    assert!(calls.len() <= 2, "one call, or one more where the server has to be told the script: {calls:?}");
    assert_eq!(w.stats_of(DEFAULT).await.queued, 128);
}
