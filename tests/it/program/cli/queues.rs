//! `queue list`, `queue stats` and `workers`.

use std::time::Duration;

use dtq::types::{Status, WorkerInfo};
use dtq_tests::{info, queue, task};

use super::*;

async fn queues_are_listed_with_their_counts(w: &World) {
    let desk = Desk::new(w);
    assert_eq!(desk.dtq(&["queue", "list"]).out, "", "no heading over nothing");
    w.bring(Status::Queued, task("a").queue("high")).await;
    w.bring(Status::Pending, task("a").queue("high")).await;
    w.bring(Status::DeadLettered, task("a")).await;
    // The width of a column does not hang on this run: so this is what people see, to the blank.
    let shown = lines(
        "
        queue    ready  running  delayed  retrying  succeeded  failed  dead-lettered
        default      0        0        0         0          0       0              1
        high         1        0        1         0          0       0              0
        ",
    );
    assert_eq!(desk.answer(&["queue", "list"]), shown);
    desk.same_in_a_users_program(&["queue", "list"]);
    let listed = desk.json(&["queue", "list"]);
    assert_eq!(listed[0]["queue"], "default");
    assert_eq!((&listed[1]["queued"], &listed[1]["pending"], &listed[1]["retries"]), (&1.into(), &1.into(), &0.into()));
}

async fn one_queue_is_shown_in_full(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Retrying, task("a").queue("high")).await;
    w.bring(Status::Queued, task("a")).await;
    let shown = lines(
        "
        queue:          high
        pending:        0
        queued:         0
        running:        0
        retrying:       1
        succeeded:      0
        failed:         0
        dead_lettered:  0
        cancelled:      0
        expired:        0
        retries:        1
        ",
    );
    assert_eq!(desk.answer(&["queue", "stats", "high"]), shown);
    assert_eq!(desk.json(&["queue", "stats", "high"]).len(), 1);
    assert_eq!(desk.json(&["queue", "stats"]).len(), 2);
}

async fn a_queue_that_is_misspelt_is_refused(w: &World) {
    let desk = Desk::new(w);
    w.enqueue(task("a").queue("billing")).await;
    for arguments in
        [&["queue", "stats", "biling"][..], &["events", "--queue", "biling"], &["audit", "--queue", "biling"]]
    {
        let ended = desk.dtq(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        let words = "dtq: no queue is named \"biling\": did you mean \"billing\"? `dtq queue list` lists them\n";
        assert_eq!(ended.err, words, "{arguments:?}");
    }
}

async fn workers_are_listed_with_what_they_do(w: &World) {
    let desk = Desk::new(w);
    let ended = desk.dtq(&["workers"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "no worker is alive\n"));
    let queues = vec![queue("high"), queue("default")];
    let one = WorkerInfo { queues, tasks: vec!["charge".into()], concurrency: 8, running: 3, ..info("w1") };
    w.beat(one, Duration::from_secs(3600)).await;
    let shown = lines(
        "
        worker running started seen queues tasks
        w1 3 of 8 AT (SPAN ago) SPAN ago high, default charge
        ",
    );
    assert_eq!(tidy(&desk.answer(&["workers"])), shown);
    let listed = desk.json(&["workers"]).remove(0);
    assert_eq!((&listed["id"], &listed["concurrency"], &listed["running"]), (&"w1".into(), &8.into(), &3.into()));
    assert_eq!(listed["queues"], serde_json::json!(["high", "default"]));
    assert_eq!(listed["tasks"], serde_json::json!(["charge"]));
}

async fn a_real_worker_tells_its_tasks(w: &World) {
    let desk = Desk::new(w);
    let _worker = desk.worker(&["--concurrency", "7"]).await;
    let told = || async { desk.client.workers().await.unwrap().pop() };
    dtq_tests::eventually("the worker is heard of", told).await;
    let listed = desk.json(&["workers"]).remove(0);
    assert_eq!(listed["concurrency"], 7);
    assert!(listed["tasks"].as_array().unwrap().contains(&"quick".into()), "{listed}");
}

on_both_stores!(
    queues_are_listed_with_their_counts,
    one_queue_is_shown_in_full,
    a_queue_that_is_misspelt_is_refused,
    workers_are_listed_with_what_they_do,
    a_real_worker_tells_its_tasks,
);
