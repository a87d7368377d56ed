//! `audit`: who did what.

use dtq_tests::task;

use super::*;

async fn what_was_done_is_listed_newest_first(w: &World) {
    let desk = Desk::new(w);
    let ended = desk.dtq(&["audit"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "nothing was done by hand\n"));
    for (queue, actor) in [("high", "ada"), ("default", "grace"), ("high", "alan")] {
        let id = w.enqueue(task("a").queue(queue)).await.to_string();
        let ended = run(dtq(&["cancel", &id, "--yes", "--reason", "no need"])
            .env("DTQ_URL", &desk.url)
            .env("DTQ_ACTOR", actor));
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let shown = lines(
        "
        when queue action tasks by target reason
        AT (SPAN ago) high cancel 1 alan high:UUID no need
        AT (SPAN ago) default cancel 1 grace default:UUID no need
        AT (SPAN ago) high cancel 1 ada high:UUID no need
        ",
    );
    assert_eq!(tidy(&desk.answer(&["audit"])), shown);
    desk.same_in_a_users_program(&["audit"]);
    let listed = desk.json(&["audit", "--queue", "high", "--limit", "1"]);
    assert_eq!(listed.len(), 1);
    let entry = &listed[0];
    assert_eq!((&entry["queue"], &entry["action"], &entry["tasks"]), (&"high".into(), &"cancel".into(), &1.into()));
    assert_eq!((&entry["actor"], &entry["reason"]), (&"alan".into(), &"no need".into()));
}

async fn whoever_is_logged_in_acts_unless_somebody_is_named(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("a")).await.to_string();
    run(dtq(&["cancel", &id, "--yes"]).env("DTQ_URL", &desk.url).env("USER", "mary"));
    assert_eq!(desk.json(&["audit"])[0]["actor"], "mary");
}

on_both_stores!(what_was_done_is_listed_newest_first, whoever_is_logged_in_acts_unless_somebody_is_named);
