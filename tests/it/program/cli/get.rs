//! `get`: a task's whole record.

use dtq::types::Status;
use dtq_tests::task;

use super::*;

async fn a_succeeded_task_is_shown_with_its_result(w: &World) {
    let desk = Desk::new(w);
    let id = w.bring(Status::Succeeded, task("charge").payload(r#"{"order":17}"#)).await.id.to_string();
    let shown = lines(
        "
        id: default:UUID
        task: charge
        status: succeeded
        attempt: 1 of 5
        priority: 5
        arguments: {\"order\":17}
        enqueued: AT (SPAN ago)
        finished: AT (SPAN ago)
        result: \"done\"
        ",
    );
    assert_eq!(tidy(&desk.answer(&["get", &id])), shown);
    desk.same_in_a_users_program(&["get", &id]);
}

async fn a_failed_task_is_shown_with_its_attempts(w: &World) {
    let desk = Desk::new(w);
    let id = w.bring(Status::DeadLettered, task("charge")).await.id.to_string();
    let shown = tidy(&desk.answer(&["get", &id]));
    assert!(shown.contains("status: dead_lettered\n"), "{shown}");
    assert!(shown.contains("failed: attempt 1 ended AT (SPAN ago) after SPAN\n  error: no way\n"), "{shown}");
}

async fn programs_get_a_record_to_the_digit(w: &World) {
    let desk = Desk::new(w);
    let payload = r#"{"n":340282366920938463463374607431768211455,"z":-0.0,"tiny":1e-320,"e":[],"u":"\u0000"}"#;
    let id = w.enqueue(task("charge").payload(format!("\n{payload}\n"))).await.to_string();
    let line = desk.answer(&["get", &id, "--json"]);
    assert!(line.contains(payload), "{line}");
    let record = objects(&line).remove(0);
    for (name, value) in [
        ("id", id.as_str().into()),
        ("task", "charge".into()),
        ("queue", "default".into()),
        ("status", "queued".into()),
        ("attempt", 1.into()),
        ("max_attempts", 5.into()),
        ("priority", 5.into()),
        ("result", Value::Null),
        ("due_at", Value::Null),
        ("cancel_requested", false.into()),
        ("retention_ms", 3_600_000.into()),
        ("dead_letter", true.into()),
        ("attempts", Value::Array(Vec::new())),
    ] {
        assert_eq!(record[name], value, "{name}");
    }
    assert!(record["enqueued_at"].as_str().unwrap().ends_with('Z'), "{record}");
}

async fn what_is_not_known_is_said_and_the_rest_is_shown(w: &World) {
    let desk = Desk::new(w);
    let unknown = task("a").build().id.to_string();
    let known = w.enqueue(task("charge")).await.to_string();
    let ended = desk.dtq(&["get", &unknown, &known, "--json"]);
    assert_eq!((ended.code, objects(&ended.out).len()), (Some(1), 1), "{ended:?}");
    assert!(ended.err.contains(&format!("nothing is known of {unknown}")), "{ended:?}");
}

async fn a_task_may_be_waited_for(w: &World) {
    let desk = Desk::new(w);
    let (well, badly) = (desk.quick(17).await, desk.acts("fails").await);
    let _worker = desk.worker(&[]).await;
    let arguments = ["--wait", "20s", "--json"];
    let ended = desk.dtq(&[&["get", &well.id().to_string()], &arguments[..]].concat());
    assert_eq!((ended.code, &objects(&ended.out)[0]["result"]), (Some(0), &17.into()), "{ended:?}");
    let ended = desk.dtq(&[&["get", &badly.id().to_string()], &arguments[..]].concat());
    assert_eq!((ended.code, &objects(&ended.out)[0]["status"]), (Some(1), &"dead_lettered".into()), "{ended:?}");
}

async fn what_a_running_task_tells_is_shown(w: &World) {
    let desk = Desk::new(w);
    let delivery = w.running(task("charge")).await;
    let id = delivery.lease.task.to_string();
    w.store()
        .report(vec![dtq::store::Report {
            lease: delivery.lease.clone(),
            progress: Some((dtq::types::Share::of(0.4), "row 4".into())),
            lines: vec!["began".into(), "half \u{1b}[2J".into()],
            first_line: 0,
            checkpoint: Some(r#"{"row":4}"#.into()),
        }])
        .await
        .unwrap();
    let shown = tidy(&desk.answer(&["get", &id]));
    for line in [
        "progress: 40.0 % row 4 (attempt 1, SPAN ago)",
        r#"checkpoint: {"row":4}"#,
        "log: AT attempt 1: began",
        r"log: AT attempt 1: half \u{1b}[2J",
    ] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line:?} is not in {shown}");
    }
    let record = desk.json(&["get", &id]).remove(0);
    assert_eq!((&record["progress"]["done"], &record["progress"]["message"]), (&0.4.into(), &"row 4".into()));
    assert_eq!((&record["checkpoint"]["row"], &record["log"][1]["text"]), (&4.into(), &"half \u{1b}[2J".into()));
}

on_both_stores!(
    what_a_running_task_tells_is_shown,
    a_succeeded_task_is_shown_with_its_result,
    a_failed_task_is_shown_with_its_attempts,
    programs_get_a_record_to_the_digit,
    what_is_not_known_is_said_and_the_rest_is_shown,
    a_task_may_be_waited_for,
);
