//! Text of strangers: control characters, marks of direction, line breaks. People see what is there and nothing acts on
//! their terminal; programs get it exact.

use std::process::Stdio;

use bytes::Bytes;
use dtq::store::Verdict;
use dtq::types::{ErrorKind, Failure, Status, TaskId};
use dtq_tests::task;

use super::*;

/// Clears a screen, makes a link, sets a clipboard, goes back to the line's begin, turns the direction, forges a line.
const NASTY: &str = "\u{1b}[2J \u{1b}]8;;http://evil\u{7}here\u{1b}]8;;\u{7} \u{1b}]52;c;aGk=\u{7} a\rb \u{202e}live \u{9b}1m\n\
                     status:  succeeded\0";

/// The same as people see it.
const SHOWN: &str = r"\u{1b}[2J \u{1b}]8;;http://evil\u{7}here\u{1b}]8;;\u{7} \u{1b}]52;c;aGk=\u{7} a\rb \u{202e}live \u{9b}1m\nstatus:  succeeded\u{0}";

/// A task that failed for good in these words; the bidi mark stands in its arguments as well.
async fn failed(w: &World) -> TaskId {
    let payload = Bytes::from("{\"text\":\"\u{202e}turned \\u001b[2J\"}");
    let delivery = w.running(task("charge").payload(payload)).await;
    let failure = Failure::new(ErrorKind::Error, NASTY);
    w.settle_to(&delivery, Verdict::Failed { failure }, Status::DeadLettered).await;
    delivery.lease.task
}

fn assert_harmless(out: &str) {
    let acts = |char: &char| (char.is_control() && *char != '\n') || ('\u{202a}'..='\u{202e}').contains(char);
    assert_eq!(out.chars().find(acts), None, "{out:?}");
}

async fn people_see_it_and_nothing_acts(w: &World) {
    let desk = Desk::new(w);
    let id = failed(w).await.to_string();
    let out = desk.answer(&["get", &id]);
    assert_harmless(&out);
    assert!(out.contains(SHOWN), "{out}");
    assert!(out.contains(r#"{"text":"\u{202e}turned \u001b[2J"}"#), "{out}");
    assert_eq!(out.matches("\nstatus:").count(), 1, "no line is forged: {out}");
}

async fn programs_get_it_exact(w: &World) {
    let desk = Desk::new(w);
    let record = desk.json(&["get", &failed(w).await.to_string()]).remove(0);
    assert_eq!(record["attempts"][0]["message"], NASTY);
    assert_eq!(record["payload"]["text"], "\u{202e}turned \u{1b}[2J");
}

async fn a_reason_and_an_actor_are_shown_as_they_were_given(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("a")).await.to_string();
    let (reason, actor) = ("no\u{1b}[2J\nneed", "ada\u{202e}\rroot");
    run(dtq(&["cancel", &id, "--yes", "--reason", reason]).env("DTQ_URL", &desk.url).env("DTQ_ACTOR", actor));
    let out = desk.answer(&["audit"]);
    assert_harmless(&out);
    assert!(out.contains(r"no\u{1b}[2J\nneed") && out.contains(r"ada\u{202e}\rroot"), "{out}");
    assert_eq!(out.lines().count(), 2, "{out}");
    let entry = desk.json(&["audit"]).remove(0);
    assert_eq!((&entry["reason"], &entry["actor"]), (&reason.into(), &actor.into()));
}

/// What a command writes to a terminal of its own.
fn at_a_terminal(desk: &Desk, arguments: &[&str], answer: &str) -> Ended {
    let command = dtq(arguments);
    let quoted: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let inner = format!("stty rows 40 cols 100; {}", quoted.join(" "));
    let mut script = Program::command_of("script", &["-qec", &inner, "/dev/null"]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    script.env("DTQ_URL", &desk.url).env("TERM", "xterm").env("PATH", path).env("SHELL", "/bin/sh");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

async fn a_terminal_gets_colours_and_nothing_else_that_acts(w: &World) {
    let desk = Desk::new(w);
    let id = failed(w).await.to_string();
    let ended = at_a_terminal(&desk, &["get", &id], "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("\u{1b}[31mdead_lettered\u{1b}[0m"), "{ended:?}");
    let plain = ["\u{1b}[31m", "\u{1b}[0m", "\r\n"].iter().fold(ended.out, |out, word| out.replace(word, "\n"));
    assert_harmless(&plain);
}

async fn a_table_fits_the_terminal(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("a")).await.to_string();
    run(dtq(&["cancel", &id, "--yes", "--reason", &"why ".repeat(100)]).env("DTQ_URL", &desk.url));
    let ended = at_a_terminal(&desk, &["audit"], "");
    // The reason is cut as far as is of use; the id of the target is never cut.
    let row = ended.out.lines().find(|line| line.contains(&id)).unwrap();
    assert!(row.ends_with("why why why…"), "{ended:?}");
}

async fn a_question_is_asked_at_a_terminal(w: &World) {
    let desk = Desk::new(w);
    let id = w.enqueue(task("charge")).await;
    for (answer, code, status) in [("n\n", Some(1), Status::Queued), ("y\n", Some(0), Status::Cancelled)] {
        let ended = at_a_terminal(&desk, &["cancel", &id.to_string()], answer);
        assert!(ended.out.contains("This calls off the task") && ended.out.contains("Do it? [y/N]"), "{ended:?}");
        assert_eq!((ended.code, w.status(&id).await), (code, status), "{ended:?}");
    }
}

on_both_stores!(
    people_see_it_and_nothing_acts,
    programs_get_it_exact,
    a_reason_and_an_actor_are_shown_as_they_were_given,
    a_terminal_gets_colours_and_nothing_else_that_acts,
    a_table_fits_the_terminal,
    a_question_is_asked_at_a_terminal,
);
