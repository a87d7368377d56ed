//! `schedule` with all its verbs.

use dtq::types::{Status, TaskId};

use super::*;

const ADD: [&str; 6] = ["schedule", "add", "nightly", "quick", r#"{"n":17}"#, "--queue=high"];

/// Runs `dtq`, which says beside its answer that it does not have the task.
fn adds(desk: &Desk, arguments: &[&str]) -> Ended {
    desk.dtq(&[&ADD[..], arguments].concat())
}

async fn schedules_are_added_listed_and_changed(w: &World) {
    let desk = Desk::new(w);
    let ended = desk.dtq(&["schedule", "list"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "there is no schedule\n"));
    let ended = adds(&desk, &["--cron", "30 2 * * *", "--tz", "Europe/Berlin", "--overlap", "skip"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("high:nightly: ") && ended.out.contains("Europe/Berlin; next 2"), "{ended:?}");
    let shown = tidy(&desk.answer(&["schedule", "list"]));
    assert!(
        shown.starts_with("schedule task next last made from comes\nhigh:nightly quick AT (in SPAN) 0 client "),
        "{shown}"
    );
    desk.same_in_a_users_program(&["schedule", "list"]);
    let listed = desk.json(&["schedule", "list", "--queue", "high"]).remove(0);
    for (name, value) in [
        ("id", Value::from("high:nightly")),
        ("cron", "30 2 * * *".into()),
        ("tz", "Europe/Berlin".into()),
        ("every_ms", Value::Null),
        ("missed", "once".into()),
        ("overlap", "skip".into()),
        ("origin", "client".into()),
        ("paused", false.into()),
        ("payload", serde_json::json!({ "n": 17 })),
    ] {
        assert_eq!(listed[name], value, "{name}");
    }
    let change = ["schedule", "change", "nightly", "quick", r#"{"n":1}"#, "--queue=high", "--every", "15m", "--json"];
    let changed = objects(&desk.dtq(&change).out).remove(0);
    assert_eq!((&changed["id"], &changed["words"]), (&"high:nightly".into(), &"every 15 minutes".into()));
    assert_eq!(desk.json(&["schedule", "list"])[0]["every_ms"], 900_000);
}

async fn they_are_paused_resumed_run_and_removed(w: &World) {
    let desk = Desk::new(w);
    assert_eq!(adds(&desk, &["--every", "1h"]).code, Some(0));
    assert_eq!(desk.answer(&["schedule", "pause", "high:nightly", "--reason", "vacation"]), "high:nightly: paused\n");
    assert_eq!(desk.json(&["schedule", "list"])[0]["paused"], true);
    assert_eq!(desk.answer(&["schedule", "resume", "high:nightly"]), "high:nightly: goes on\n");
    let id: TaskId = desk.answer(&["schedule", "run", "high:nightly"]).trim().parse().unwrap();
    assert_eq!((w.status(&id).await, w.record(&id).await.payload.as_ref()), (Status::Queued, &br#"{"n":17}"#[..]));
    let ended = desk.dtq(&["schedule", "remove", "high:nightly"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.err.starts_with("dtq: This removes\ndtq:   high:nightly: quick, every hour; next "), "{ended:?}");
    assert_eq!(desk.answer(&["schedule", "remove", "high:nightly", "--yes"]), "high:nightly: removed\n");
    assert_eq!(desk.json(&["schedule", "list"]).len(), 0);
    let actions: Vec<_> =
        desk.json(&["audit"]).iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect();
    assert_eq!(actions, ["remove_schedule", "run_schedule", "resume_schedule", "pause_schedule", "add_schedule"]);
}

async fn what_is_wrong_is_refused_with_the_remedy(w: &World) {
    let desk = Desk::new(w);
    assert_eq!(adds(&desk, &["--every", "1h"]).code, Some(0));
    for (arguments, words) in [
        (&["--every", "2h"][..], "there is a schedule high:nightly already"),
        (&["--cron", "61 * * * *"], "61"),
        (&["--cron", "* * * * *", "--tz", "Europe/Berln"], "Europe/Berln"),
        (&[], "--cron"),
        (&["--cron", "* * * * *", "--every", "1h"], "--every"),
    ] {
        let ended = adds(&desk, arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(words), "{arguments:?}: {ended:?}");
    }
    for verb in ["run", "pause", "resume", "remove"] {
        let ended = desk.dtq(&["schedule", verb, "high:nigthly"]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{verb}: {ended:?}");
        assert!(ended.err.contains("did you mean \"high:nightly\"?"), "{verb}: {ended:?}");
    }
    let typed = ["schedule", "add", "b", "quick", r#"{"m":17}"#, "--every", "1h"];
    let ended = run(Program::command(&typed).env("DTQ_URL", &desk.url));
    assert_eq!(ended.code, Some(2), "a program that has the task checks its arguments: {ended:?}");
    assert!(ended.err.contains("`m`"), "{ended:?}");
}

on_both_stores!(
    schedules_are_added_listed_and_changed,
    they_are_paused_resumed_run_and_removed,
    what_is_wrong_is_refused_with_the_remedy,
);
