//! `dtq enqueue`: by name, for a program that is not at hand.

use dtq::types::{TaskId, WorkerInfo};
use dtq_tests::info;

use super::*;

async fn a_task_is_sent_by_name_and_that_is_said(w: &World) {
    let desk = Desk::new(w);
    let ended = desk.dtq(&["enqueue", "quick", r#"{"n": 17}"#]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said =
        "quick: sent by name, with default options: dtq does not have this task and cannot check its arguments.\n";
    assert_eq!(ended.err, said);
    let id: TaskId = ended.out.strip_suffix('\n').unwrap().parse().unwrap();
    let _worker = desk.worker(&[]).await;
    assert_eq!(desk.client.handle::<u64>(id).result(PATIENCE).await.unwrap(), 17);
}

async fn a_name_that_no_live_worker_knows_is_told(w: &World) {
    let desk = Desk::new(w);
    let one = WorkerInfo { tasks: vec!["charge".into(), "refund".into()], ..info("w1") };
    w.beat(one, std::time::Duration::from_secs(3600)).await;
    let ended = desk.dtq(&["enqueue", "chrage"]);
    assert_eq!(ended.code, Some(0), "the worker that knows it may come later: {ended:?}");
    assert!(ended.err.ends_with(" No live worker knows a task of this name. Did you mean \"charge\"?\n"), "{ended:?}");
    assert!(!desk.dtq(&["enqueue", "charge"]).err.contains("No live worker"));
}

async fn what_cannot_be_a_task_is_refused(w: &World) {
    let desk = Desk::new(w);
    for (arguments, words) in [
        (&["quick", "7"][..], "not a JSON object such as {\"order\": 17}"),
        (&["quick", r#"{"n":"#], "not a JSON object"),
        (&["quick", "17", "500"], "its arguments are one JSON object, in quotes: '{\"order\": 17}'"),
        (&["a b"], "\"a b\" is not usable"),
        (&["quick", "{}", "--priority", "10"], "priority 10 is out of range"),
        (&["quick", "{}", "--queue", "a b"], "\"a b\" is not usable"),
    ] {
        let ended = desk.dtq(&[&["enqueue"], arguments].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(words), "{arguments:?}: {ended:?}");
    }
    assert!(desk.client.queues().await.unwrap().is_empty(), "nothing was stored");
}

on_both_stores!(
    a_task_is_sent_by_name_and_that_is_said,
    a_name_that_no_live_worker_knows_is_told,
    what_cannot_be_a_task_is_refused,
);
