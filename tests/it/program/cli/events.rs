//! `events`: kept ones, and live ones.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use dtq::types::Status;
use dtq_tests::{TempDir, info, task};

use super::*;

async fn what_is_kept_is_printed_oldest_first(w: &World) {
    let desk = Desk::new(w);
    w.bring(Status::Succeeded, task("a")).await;
    w.beat(info("w1"), std::time::Duration::from_secs(60)).await;
    let shown = lines(
        "
        AT TASK_QUEUED default:UUID attempt 1
        AT TASK_STARTED default:UUID attempt 1
        AT TASK_SUCCEEDED default:UUID attempt 1
        AT WORKER_STARTED w1
        ",
    );
    assert_eq!(tidy(&desk.answer(&["events"])), shown);
    desk.same_in_a_users_program(&["events"]);
    let told = desk.json(&["events"]);
    assert_eq!(
        (&told[0]["kind"], &told[0]["queue"], &told[0]["attempt"]),
        (&"TASK_QUEUED".into(), &"default".into(), &1.into())
    );
    assert_eq!((&told[3]["worker"], &told[3]["task"], &told[3]["attempt"]), (&"w1".into(), &Value::Null, &Value::Null));
}

async fn events_are_filtered_by_queue_task_and_kind(w: &World) {
    let desk = Desk::new(w);
    let one = w.bring(Status::Succeeded, task("a").queue("high")).await.id.to_string();
    w.bring(Status::DeadLettered, task("a").queue("high")).await;
    w.bring(Status::Queued, task("a")).await;
    w.beat(info("w1"), std::time::Duration::from_secs(60)).await;
    let count = |arguments: &[&str]| desk.json(&[&["events"], arguments].concat()).len();
    assert_eq!(count(&["--queue", "default"]), 1, "and not the worker's");
    assert_eq!(count(&["--queue", "default", "--queue", "high"]), 7);
    assert_eq!(count(&["--task", &one]), 3);
    assert_eq!(count(&["--kind", "started"]), 2);
    assert_eq!(count(&["--kind", "TASK_DEAD_LETTERED", "--kind", "worker-started"]), 2);
    let ended = desk.dtq(&["events", "--kind", "done"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("TASK_SUCCEEDED"), "{ended:?}");
}

/// Follows with these arguments until it is ready to hear.
async fn follow(desk: &Desk, arguments: &[&str]) -> Program {
    let mut command = dtq(&[&["events", "--follow", "--json"], arguments].concat());
    Program::start_in(TempDir::new(), command.env("DTQ_URL", &desk.url))
}

async fn live_events_come_until_ctrl_c_also_of_queues_that_are_new(w: &World) {
    let desk = Desk::new(w);
    w.enqueue(task("a")).await;
    let program = follow(&desk, &["--from-start"]).await;
    program.logs("TASK_QUEUED", 1).await;
    w.enqueue(task("a")).await;
    program.logs("TASK_QUEUED", 2).await;
    let new = w.enqueue(task("a").queue("made-later")).await.to_string();
    program.logs(&new, 1).await;
    w.beat(info("w1"), std::time::Duration::from_secs(60)).await;
    program.logs("WORKER_STARTED", 1).await;
    w.enqueue(task("a").queue("made-later")).await;
    program.logs("made-later:", 2).await;
    program.signal("INT");
    assert_eq!(program.exits().await.0, Some(0), "{}", program.log());
    let told = objects(&program.log());
    assert_eq!(told.len(), 5, "each once: {told:?}");
}

async fn a_follower_begins_now_unless_told_otherwise(w: &World) {
    let desk = Desk::new(w);
    let before = w.enqueue(task("a")).await.to_string();
    let program = follow(&desk, &["--kind", "queued"]).await;
    // What is enqueued before it listens is not heard: so until one is.
    let heard = || async {
        w.enqueue(task("a")).await;
        (!program.lines("TASK_QUEUED").is_empty()).then_some(())
    };
    dtq_tests::eventually("it hears", heard).await;
    assert!(program.lines(&before).is_empty(), "{}", program.log());
    program.signal("TERM");
    assert_eq!(program.exits().await.0, Some(0), "{}", program.log());
}

async fn a_reader_that_has_seen_enough_ends_it(w: &World) {
    let desk = Desk::new(w);
    w.enqueue_many(2000, || task("a")).await;
    for arguments in [&["events"][..], &["events", "--json"], &["events", "--follow", "--from-start"]] {
        let mut child =
            dtq(arguments).env("DTQ_URL", &desk.url).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.contains("TASK_QUEUED"), "{first}");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{arguments:?}");
    }
}

on_both_stores!(
    what_is_kept_is_printed_oldest_first,
    events_are_filtered_by_queue_task_and_kind,
    live_events_come_until_ctrl_c_also_of_queues_that_are_new,
    a_follower_begins_now_unless_told_otherwise,
    a_reader_that_has_seen_enough_ends_it,
);
