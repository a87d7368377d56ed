//! `status`: one screen.

use dtq::types::{Status, WorkerInfo};
use dtq_tests::{TempDir, info, task};

use super::*;

async fn one_screen_tells_how_things_are(w: &World) {
    let desk = Desk::new(w);
    let empty = desk.answer(&["status"]);
    assert!(empty.ends_with("\n\nno queue ever held a task\n\nno worker is alive\n"), "{empty}");
    w.bring(Status::Queued, task("a")).await;
    w.beat(WorkerInfo { concurrency: 8, running: 3, ..info("w1") }, std::time::Duration::from_secs(3600)).await;
    let shown = desk.answer(&["status"]);
    let (first, rest) = shown.split_once('\n').unwrap();
    assert!(["SQLite 3.", "Redis ", "Valkey "].iter().any(|product| first.starts_with(product)), "{first}");
    let expected = lines(
        "
        queue ready next waits running delayed retrying dead-lettered
        default 1 SPAN 0 0 0 0

        1 worker, 3 of 8 slots busy
        worker running seen queues
        w1 3 of 8 SPAN ago default
        ",
    );
    assert_eq!(tidy(rest), format!("\n{expected}"));
    desk.same_in_a_users_program(&["status"]);
    let told = desk.json(&["status"]).remove(0);
    assert_eq!((&told["queues"][0]["queued"], &told["workers"][0]["id"]), (&1.into(), &"w1".into()));
    assert!(told["store"]["version"].is_string() && told["at"].is_string(), "{told}");
}

async fn it_may_be_shown_again_and_again(w: &World) {
    let desk = Desk::new(w);
    let mut command = dtq(&["status", "--watch", "--every", "100ms", "--json"]);
    w.enqueue(task("a")).await;
    let program = Program::start_in(TempDir::new(), command.env("DTQ_URL", &desk.url));
    program.logs(r#""queued":1"#, 2).await;
    w.enqueue(task("a")).await;
    program.logs(r#""queued":2"#, 1).await;
    program.signal("INT");
    assert_eq!(program.exits().await.0, Some(0), "{}", program.log());
}

on_both_stores!(one_screen_tells_how_things_are, it_may_be_shown_again_and_again);
