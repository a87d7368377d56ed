//! What programs say when they are asked, and when they cannot start.

use super::{Program, run};

#[test]
fn tasks_lists_what_is_registered() {
    let ended = run(&mut Program::command(&["tasks"]));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let names: Vec<_> = ended.out.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(["abort", "block", "quick", "slow"].iter().all(|name| names.contains(name)), "{names:?}");
    assert!(names.is_sorted(), "{names:?}");
    let row = |name: &str| ended.out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("quick ").ends_with(" alias rapid"), "{}", ended.out);
    assert!(!row("abort ").contains("alias"), "{}", ended.out);
    assert!(ended.out.lines().next().unwrap().starts_with("task "), "{}", ended.out);
}

#[test]
fn tasks_as_json_is_one_object_a_line() {
    let ended = run(&mut Program::command(&["tasks", "--json"]));
    let tasks: Vec<serde_json::Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(tasks.len(), run(&mut Program::command(&["tasks"])).out.lines().count() - 1);
    let abort = &tasks[0];
    assert_eq!(
        (&abort["name"], &abort["queue"], &abort["max_attempts"]),
        (&"abort".into(), &"default".into(), &3.into())
    );
    assert_eq!(abort["arguments"], serde_json::json!(["folder"]));
    let quick = tasks.iter().find(|task| task["name"] == "quick").unwrap();
    assert_eq!((&quick["aliases"], &abort["aliases"]), (&serde_json::json!(["rapid"]), &serde_json::json!([])));
    assert!(abort["file"].as_str().unwrap().ends_with("e2e_worker.rs"), "{abort}");
}

#[test]
fn help_names_commands_settings_and_variables_and_no_secret() {
    let ended = run(Program::command(&["--help"]).env("DTQ_URL", "redis://:hunter2@host/"));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let flags = [
        "--url",
        "--queues",
        "--concurrency",
        "--lease",
        "--drain-timeout",
        "--cancel-grace",
        "--subscribe-url",
        "--ready-file",
        "--ready-threshold",
    ];
    for word in ["worker", "tasks", "enqueue", "Worker settings:", "DTQ_URL", "DTQ_READY_FILE", "e2e_worker"]
        .iter()
        .chain(&flags)
    {
        assert!(ended.out.contains(word), "{word} is not in {}", ended.out);
    }
    assert!(!ended.out.contains("hunter2"), "{}", ended.out);
}

#[test]
fn a_program_without_tasks_says_what_to_do() {
    for arguments in [vec![], vec!["tasks"]] {
        let ended = run(&mut Program::command_of(env!("CARGO_BIN_EXE_e2e_empty"), &arguments));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("no task is registered") && ended.err.contains("#[dtq::task]"), "{ended:?}");
    }
}

#[test]
fn a_set_up_that_fails_says_so() {
    let ended = run(Program::command(&[]).env("E2E_SET_UP", "the database is not there"));
    assert_eq!(ended.code, Some(3));
    assert_eq!(ended.err, "e2e_worker: set-up: the database is not there\n");
}

#[tokio::test]
async fn a_log_in_a_file_has_no_colours_and_may_be_json() {
    let program = Program::start(&mut Program::command(&[]));
    program.logs("worker starts", 1).await;
    assert!(!program.log().contains('\u{1b}'), "{}", program.log());
    let program = Program::start(&mut Program::command(&["--log-format", "json"]));
    program.logs("worker starts", 1).await;
    let line: serde_json::Value = serde_json::from_str(&program.lines("worker starts")[0]).unwrap();
    assert_eq!(line["fields"]["message"], "worker starts");
}
