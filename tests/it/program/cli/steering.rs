//! `queue pause`, `resume`, `purge` and `limits`.

use dtq::types::Status;
use dtq_tests::{queue, task};

use super::*;

async fn queues_are_paused_and_go_on(w: &World) {
    let desk = Desk::new(w);
    w.enqueue(task("a").queue("high")).await;
    let paused = "high: paused: what runs finishes, nothing more starts\n";
    assert_eq!(desk.answer(&["queue", "pause", "high", "--reason", "the bank is down"]), paused);
    let again = desk.json(&["queue", "pause", "high"]).remove(0);
    assert_eq!((&again["queue"], &again["paused"], &again["changed"]), (&"high".into(), &true.into(), &false.into()));
    let found = desk.dtq(&["doctor", "--quiet"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("the bank is down") && found.out.contains("-> dtq queue resume high"), "{found:?}");
    assert!(!found.out.contains("nothing wrong"), "{found:?}");
    for look in [&["status"][..], &["queue", "list"]] {
        let shown = tidy(&desk.answer(look));
        let told = shown.lines().find(|line| line.contains("paused")).unwrap_or_else(|| panic!("{look:?}: {shown}"));
        assert!(told.starts_with("\"high\" is paused since AT (SPAN ago) by "), "{told}");
        assert!(told.ends_with(": the bank is down"), "{told}");
    }
    assert!(w.claim_with(dtq::store::Claim { queue: queue("high"), ..dtq_tests::want(1) }).await.paused);
    assert_eq!(desk.answer(&["queue", "resume", "high"]), "high: goes on\n");
    assert_eq!(desk.answer(&["queue", "resume", "high"]), "high: nothing to do: it is not paused\n");
    let actions: Vec<_> =
        desk.json(&["audit"]).iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect();
    assert_eq!(actions, ["resume", "pause"]);
}

async fn a_queue_that_was_never_used_is_doubted(w: &World) {
    let desk = Desk::new(w);
    w.enqueue(task("a").queue("billing")).await;
    let ended = desk.dtq(&["queue", "pause", "biling"]);
    let said = "no task was ever enqueued in the queue \"biling\"; did you mean \"billing\"?\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), said));
    assert_eq!(desk.dtq(&["queue", "purge", "nothing", "--yes"]).code, Some(2), "what is not there is not purged");
}

async fn a_queue_is_purged_after_a_question(w: &World) {
    let desk = Desk::new(w);
    w.enqueue_many(3, || task("charge").queue("high")).await;
    let other = w.enqueue(task("report").queue("high")).await;
    let running = w.bring(Status::Running, task("charge").queue("busy")).await.id;
    let arguments = ["queue", "purge", "high", "--task", "charge"];
    assert_eq!(desk.answer(&[&arguments[..], &["--dry-run"]].concat()), "high: 3 would be cancelled\n");
    let ended = desk.dtq(&arguments);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert!(
        ended.err.starts_with("dtq: This cancels 3 tasks named \"charge\" that wait in the queue \"high\"\n"),
        "{ended:?}"
    );
    assert_eq!(desk.answer(&[&arguments[..], &["--yes"]].concat()), "high: 3 cancelled\n");
    assert_eq!(w.status(&other).await, Status::Queued);
    let report = desk.json(&["queue", "purge", "busy", "--stop-running", "--yes"]).remove(0);
    assert_eq!((&report["dropped"], &report["stopping"], &report["dry_run"]), (&0.into(), &1.into(), &false.into()));
    assert!(w.record(&running).await.cancel_requested);
    let ended = desk.dtq(&["queue", "purge", "busy"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "busy: 0 cancelled\n"), "nothing to ask: {ended:?}");
}

async fn limits_are_shown_and_changed(w: &World) {
    let desk = Desk::new(w);
    w.enqueue(task("charge").queue("high")).await;
    let none = lines(
        "
        queue:    high
        paused:   no
        depth:    1 of no limit
        running:  0 of no limit
        ",
    );
    assert_eq!(desk.answer(&["queue", "limits", "high"]), none);
    let changes = ["--depth", "100", "--concurrency", "5", "--task", "charge=2", "--reason", "careful"];
    let shown = lines(
        "
        queue:    high
        paused:   no
        depth:    1 of 100
        running:  0 of 5

        task    running  limit  declared  set  held back
        charge        0      2              2          0
        ",
    );
    assert_eq!(desk.answer(&[&["queue", "limits", "high"], &changes[..]].concat()), shown);
    let told = desk.json(&["queue", "limits", "high", "--concurrency", "none"]).remove(0);
    assert_eq!((&told["max_depth"], &told["concurrency"]), (&100.into(), &Value::Null));
    assert_eq!((&told["tasks"][0]["limit"], &told["tasks"][0]["set"]), (&2.into(), &2.into()));
    let back = desk.json(&["queue", "limits", "high", "--depth=none", "--task=charge=declared"]).remove(0);
    assert_eq!((&back["max_depth"], &back["tasks"]), (&Value::Null, &Value::Array(Vec::new())));
    for wrong in ["--depth=many", "--task=charge", "--concurrency=-1"] {
        assert_eq!(desk.dtq(&["queue", "limits", "high", wrong]).code, Some(2), "{wrong}");
    }
}

on_both_stores!(
    queues_are_paused_and_go_on,
    a_queue_that_was_never_used_is_doubted,
    a_queue_is_purged_after_a_question,
    limits_are_shown_and_changed,
);
