//! `retry`, and `dlq` with all its verbs.

use dtq::store::Verdict;
use dtq::types::{ErrorKind, Failure, Status, TaskId};
use dtq_tests::task;

use super::*;

/// A dead letter that says this.
async fn dead(w: &World, name: &str, queue: &str, message: &str) -> TaskId {
    let delivery = w.running(task(name).queue(queue)).await;
    let failure = Failure::new(ErrorKind::Error, message);
    w.settle_to(&delivery, Verdict::Failed { failure }, Status::DeadLettered).await;
    delivery.lease.task
}

async fn dead_letters_are_listed_grouped_and_shown(w: &World) {
    let desk = Desk::new(w);
    for n in 0..3 {
        dead(w, "charge", "high", &format!("order {n} is gone")).await;
    }
    let other = dead(w, "report", "low", "no paper").await.to_string();
    let shown = lines(
        "
        id task attempt died error
        high:UUID charge 1 SPAN ago error: order 0 is gone
        high:UUID charge 1 SPAN ago error: order 1 is gone
        high:UUID charge 1 SPAN ago error: order 2 is gone
        low:UUID report 1 SPAN ago error: no paper
        ",
    );
    assert_eq!(tidy(&desk.answer(&["dlq", "list"])), shown);
    desk.same_in_a_users_program(&["dlq", "list"]);
    let shown = lines(
        "
        count queue task kind latest example error
            3 high charge error SPAN ago high:UUID order # is gone
            1 low report error SPAN ago low:UUID no paper
        ",
    );
    assert_eq!(tidy(&desk.answer(&["dlq", "group"])), shown);
    assert!(desk.answer(&["dlq", "show", &other]).contains("status:     dead_lettered"));
    let group = desk.json(&["dlq", "group", "--queue", "high"]).remove(0);
    assert_eq!((&group["count"], &group["message"]), (&3.into(), &"order # is gone".into()));
    let count = |arguments: &[&str]| desk.json(&[&["dlq", "list"], arguments].concat()).len();
    assert_eq!(count(&["--saying", "order 1"]), 1);
    assert_eq!(count(&["--task", "charge", "--kind", "error", "--newer-than", "1h"]), 3);
    assert_eq!(count(&["--kind", "panic"]), 0);
    assert_eq!(desk.dtq(&["dlq", "list", "--limit", "2"]).err, "there are more than these 2: --limit shows more\n");
}

async fn some_run_again_by_id(w: &World) {
    let desk = Desk::new(w);
    let letter = dead(w, "quick", "default", "no way").await;
    let done = w.bring(Status::Succeeded, task("quick").queue("done")).await.id;
    let ids = [letter.to_string(), done.to_string()];
    let ended = desk.dtq(&["retry", &ids[0], &ids[1], "--arguments", r#"{"n":17}"#]);
    assert_eq!((ended.code, ended.out), (Some(1), format!("{letter}: queued again\n")), "{}", ended.err);
    assert!(ended.err.contains(&format!("{done}: nothing changed: it is succeeded")), "{}", ended.err);
    assert!(ended.err.contains("dtq does not have the task \"quick\": its arguments are not checked"), "{}", ended.err);
    let record = w.record(&letter).await;
    assert_eq!((record.status, record.payload.as_ref()), (Status::Queued, &br#"{"n":17}"#[..]));
    let answer = desk.json(&["retry", &ids[1], "--even-succeeded"]).remove(0);
    assert_eq!((&answer["id"], &answer["outcome"]), (&ids[1].as_str().into(), &"done".into()));
    assert_eq!(w.status(&done).await, Status::Queued);
}

async fn new_arguments_are_held_against_the_task(w: &World) {
    let desk = Desk::new(w);
    let letter = dead(w, "quick", "default", "no way").await;
    let arguments = ["retry", &letter.to_string(), "--arguments", r#"{"m":17}"#];
    let ended = run(Program::command(&arguments).env("DTQ_URL", &desk.url));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("task \"quick\"") && ended.err.contains("`m`"), "{ended:?}");
    assert_eq!(w.status(&letter).await, Status::DeadLettered);
}

async fn all_that_fit_are_requeued_discarded_and_removed(w: &World) {
    let desk = Desk::new(w);
    for (verb, done, task, left) in
        [("requeue", "requeued", "a", 4), ("discard", "discarded", "b", 2), ("purge", "removed", "c", 0)]
    {
        if left == 4 {
            for name in ["a", "b", "c"] {
                dead(w, name, "high", "first 1").await;
                dead(w, name, "high", "first 2").await;
            }
        }
        let arguments = ["dlq", verb, "--queue", "high", "--task", task, "--reason", "tested"];
        let ended = desk.dtq(&arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{verb}: {ended:?}");
        let question =
            format!("2 of queue \"high\" (dead letters of task {task})\ndtq:        2  {task}  error: first #\n");
        assert!(ended.err.contains(&question) && ended.err.contains("--yes"), "{verb}: {}", ended.err);
        let ended = desk.dtq(&[&arguments[..], &["--yes"]].concat());
        assert_eq!((ended.code, ended.out), (Some(0), format!("high: 2 {done}\n")), "{}", ended.err);
        assert_eq!(desk.json(&["dlq", "list"]).len(), left, "{verb}");
        let entry = desk.json(&["audit", "--limit", "1"]).remove(0);
        assert_eq!((&entry["tasks"], &entry["reason"]), (&2.into(), &"tested".into()), "{entry}");
    }
    let ended = desk.dtq(&["dlq", "purge", "--queue", "high"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), "no dead letter fits\n"), "nothing to ask: {ended:?}");
}

async fn single_ones_are_dealt_with_by_id(w: &World) {
    let desk = Desk::new(w);
    for (verb, done) in [("requeue", "requeued"), ("discard", "discarded"), ("purge", "removed")] {
        let id = dead(w, "a", verb, "no way").await.to_string();
        if verb != "requeue" {
            let ended = desk.dtq(&["dlq", verb, &id]);
            assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{verb}: {ended:?}");
            assert!(ended.err.contains(&id) && ended.err.contains("--yes"), "{verb}: {ended:?}");
        }
        assert_eq!(desk.answer(&["dlq", verb, &id, "--yes"]), format!("{id}: {done}\n"));
        let again = desk.dtq(&["dlq", verb, &id, "--yes", "--json"]);
        assert_eq!(again.code, Some(1), "{verb}: {again:?}");
        assert_ne!(objects(&again.out)[0]["outcome"], "done", "{verb}");
    }
    let ended = desk.dtq(&["dlq", "purge"]);
    assert_eq!(ended.code, Some(2), "all of everything is never meant: {ended:?}");
}

on_both_stores!(
    dead_letters_are_listed_grouped_and_shown,
    some_run_again_by_id,
    new_arguments_are_held_against_the_task,
    all_that_fit_are_requeued_discarded_and_removed,
    single_ones_are_dealt_with_by_id,
);
