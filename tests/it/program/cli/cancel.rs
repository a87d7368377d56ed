//! `cancel`: what it asks, what it does, and what it answers.

use dtq::types::Status;
use dtq_tests::task;

use super::*;

async fn without_a_yes_nothing_is_done_where_nobody_can_be_asked(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("charge")).await;
    let ended = desk.dtq(&["cancel", &id.to_string()]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    let words = format!(
        "dtq: This calls off the task\ndtq:   {id}  charge  queued\ndtq: Nothing was done: there is nobody to ask here. \
         Say --yes to do it without a question\n"
    );
    assert_eq!(ended.err, words);
    assert_eq!(w.status(&id).await, Status::Queued);
}

async fn a_yes_calls_them_off_and_each_answer_is_told(w: &World) {
    let desk = Desk::new(w);
    let waiting = w.enqueue(task("a")).await;
    let running = w.bring(Status::Running, task("a").queue("busy")).await.id;
    let done = w.bring(Status::Succeeded, task("a").queue("done")).await.id;
    let unknown = task("a").build().id;
    let ids = [&waiting, &running, &done, &unknown].map(ToString::to_string);
    let arguments = ["cancel", &ids[0], &ids[1], &ids[2], &ids[3], "--yes", "--reason", "not needed"];
    let ended = desk.dtq(&arguments);
    assert_eq!(ended.code, Some(1), "one is not known: {ended:?}");
    let told = format!(
        "{waiting}: cancelled\n{running}: running: its worker is told to stop it\n{done}: nothing to do: succeeded already\n"
    );
    assert_eq!((ended.out, ended.err), (told, format!("{unknown}: nothing is known of it\n")));
    assert_eq!(w.status(&waiting).await, Status::Cancelled);
    assert!(w.record(&running).await.cancel_requested);
    assert_eq!(w.record(&waiting).await.last_failure().unwrap().message, "not needed");
}

async fn programs_are_told_by_name(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("a")).await.to_string();
    let arguments = ["cancel", &id, "--yes"];
    let answers: Vec<_> = (0..2).map(|_| desk.json(&arguments).remove(0)).collect();
    assert_eq!((&answers[0]["id"], &answers[0]["outcome"]), (&id.as_str().into(), &"cancelled".into()));
    assert_eq!((&answers[1]["outcome"], &answers[1]["status"]), (&"already_finished".into(), &"cancelled".into()));
}

async fn a_task_is_found_by_its_idempotency_key(w: &World) {
    let desk = Desk::new(w);
    let enqueue = ["enqueue", "quick", r#"{"n":1}"#, "--queue", "high", "--idempotency-key", "order-17"];
    let ended = desk.dtq(&enqueue);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let id = ended.out.trim().to_owned();
    let again = desk.dtq(&enqueue);
    assert_eq!((again.code, again.out.as_str()), (Some(1), ""), "{again:?}");
    assert!(again.err.contains(&id) && again.err.contains("\"order-17\" is in use"), "{again:?}");
    let key = ["--key", "order-17", "--in-queue", "high"];
    assert_eq!(desk.json(&[&["get"], &key[..]].concat())[0]["id"], id.as_str());
    assert_eq!(desk.answer(&[&["cancel", "--yes"], &key[..]].concat()), format!("{id}: cancelled\n"));
    let ended = desk.dtq(&["get", "--key", "order-18", "--in-queue", "high"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.err, "dtq: queue \"high\" remembers no task of the idempotency key \"order-18\"\n");
}

async fn one_may_be_quiet(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("a")).await.to_string();
    assert_eq!(desk.answer(&["cancel", &id, "--yes", "--quiet"]), "");
}

async fn all_that_fit_are_called_off(w: &World) {
    let desk = Desk::new(w);
    w.enqueue_many(3, || task("charge").queue("high")).await;
    let other = w.enqueue(task("report").queue("high")).await;
    w.bring(Status::Running, task("charge").queue("busy")).await;
    let arguments = ["cancel", "--queue", "high", "--queue", "busy", "--task", "charge"];
    let ended = desk.dtq(&arguments);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    let question = "dtq: This calls off tasks that are not finished:\ndtq:   3 of queue \"high\" (tasks named charge)\n\
                    dtq:   1 of queue \"busy\" (tasks named charge)\n";
    assert!(ended.err.starts_with(question), "{ended:?}");
    let told =
        "high: 3 cancelled, 0 running ones are told to stop\nbusy: 0 cancelled, 1 running ones are told to stop\n";
    assert_eq!(desk.answer(&[&arguments[..], &["--yes"]].concat()), told);
    assert_eq!(w.status(&other).await, Status::Queued);
    let ended = desk.dtq(&["cancel", "--queue", "high", "--task", "charge"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), "no task fits that is not finished\n"));
    let ended = desk.dtq(&["cancel", "--queue", "high", "--status", "succeeded", "--yes"]);
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(2), "dtq: what is succeeded is finished: it cannot be called off\n")
    );
    assert_eq!(desk.dtq(&["cancel", "--task", "charge", "--yes"]).code, Some(2), "of which queue?");
}

on_both_stores!(
    all_that_fit_are_called_off,
    without_a_yes_nothing_is_done_where_nobody_can_be_asked,
    a_yes_calls_them_off_and_each_answer_is_told,
    programs_are_told_by_name,
    one_may_be_quiet,
    a_task_is_found_by_its_idempotency_key,
);
