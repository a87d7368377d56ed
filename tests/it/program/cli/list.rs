//! `list`: tasks by status, queue, name and time.

use dtq::types::Status;
use dtq_tests::task;

use super::*;

async fn tasks_are_listed_with_where_they_are(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Queued, task("charge")).await;
    w.bring(Status::Retrying, task("report").queue("later")).await;
    let shown = lines(
        "
        id task status attempt enqueued next error
        default:UUID charge queued 1 of 5 SPAN ago
        later:UUID report retrying 1 of 5 SPAN ago due in SPAN error: not yet
        ",
    );
    assert_eq!(tidy(&desk.answer(&["list"])), shown);
    desk.same_in_a_users_program(&["list"]);
    let listed = desk.json(&["list"]);
    assert_eq!((&listed[1]["status"], &listed[1]["error"]["message"]), (&"retrying".into(), &"not yet".into()));
    assert_eq!(
        (&listed[0]["error"], &listed[0]["due_at"], &listed[0]["requeues"]),
        (&Value::Null, &Value::Null, &0.into())
    );
}

async fn they_are_narrowed_down(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Queued, task("charge")).await;
    w.bring(Status::Pending, task("charge").queue("later")).await;
    w.bring(Status::DeadLettered, task("report").queue("dead")).await;
    let tasks = |arguments: &[&str]| {
        let listed = desk.json(&[&["list"], arguments].concat());
        listed.iter().map(|task| task["queue"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&[]), ["dead", "default", "later"]);
    assert_eq!(tasks(&["--status", "pending", "--status", "dead-lettered"]), ["dead", "later"]);
    assert_eq!(tasks(&["--queue", "later", "--queue", "dead"]), ["later", "dead"]);
    assert_eq!(tasks(&["--task", "charge"]), ["default", "later"]);
    assert_eq!(tasks(&["--enqueued-from", "1h"]), ["dead", "default", "later"]);
    assert_eq!(tasks(&["--enqueued-before", "1h"]), [""; 0]);
    assert_eq!(tasks(&["--enqueued-before", "2999-01-01", "--finished-from", "1h"]), ["dead"]);
    for (arguments, words) in [
        (["--status", "done"], "the statuses are"),
        (["--enqueued-from", "soon"], "2h"),
        (["--queue", "lader"], "did you mean \"later\"?"),
    ] {
        let ended = desk.dtq(&[&["list"], &arguments[..]].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(words), "{ended:?}");
    }
}

async fn a_long_list_is_cut_and_that_is_said(w: &World) {
    let desk = Desk::new(w);
    let ids = w.enqueue_many(30, || task("charge")).await;
    let ended = desk.dtq(&["list", "--limit", "10", "--json"]);
    assert_eq!((ended.code, objects(&ended.out).len()), (Some(0), 10));
    assert_eq!(ended.err, "there are more than these 10: --limit shows more\n");
    let listed = desk.json(&["list", "--limit", "30"]);
    assert_eq!((listed.len(), &listed[0]["id"]), (30, &ids[0].to_string().into()));
    let ended = desk.dtq(&["list", "--newest-first", "--limit", "1", "--json"]);
    assert_eq!(objects(&ended.out)[0]["id"], ids[29].to_string());
    let ended = desk.dtq(&["list", "--task", "other"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "no task fits\n"));
}

on_both_stores!(tasks_are_listed_with_where_they_are, they_are_narrowed_down, a_long_list_is_cut_and_that_is_said);
