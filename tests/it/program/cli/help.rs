//! What both command lines say of themselves, and of what they cannot do.

use super::*;

/// Every verb of both.
const VERBS: [&[&str]; 33] = [
    &["enqueue"],
    &["get"],
    &["list"],
    &["cancel"],
    &["retry"],
    &["dlq"],
    &["dlq", "list"],
    &["dlq", "group"],
    &["dlq", "show"],
    &["dlq", "requeue"],
    &["dlq", "discard"],
    &["dlq", "purge"],
    &["queue"],
    &["queue", "list"],
    &["queue", "stats"],
    &["queue", "pause"],
    &["queue", "resume"],
    &["queue", "purge"],
    &["queue", "limits"],
    &["schedule"],
    &["schedule", "list"],
    &["schedule", "run"],
    &["schedule", "pause"],
    &["schedule", "resume"],
    &["schedule", "add"],
    &["schedule", "change"],
    &["schedule", "remove"],
    &["workers"],
    &["events"],
    &["audit"],
    &["status"],
    &["doctor"],
    &["completions"],
];

#[test]
fn every_verb_has_a_help_in_both_programs() {
    for verb in VERBS {
        let arguments = [verb, &["--help"]].concat();
        let [tool, program] = [run(&mut dtq(&arguments)), run(&mut Program::command(&arguments))];
        assert_eq!((tool.code, tool.err.as_str()), (Some(0), ""), "{verb:?}");
        assert!(tool.out.contains("Usage: dtq "), "{}", tool.out);
        assert_eq!(tool.out.replace("Usage: dtq ", "Usage: e2e_worker "), program.out, "{verb:?}");
        assert!(tool.out.contains("--url") && !tool.out.contains("--lease"), "{}", tool.out);
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    for ended in [run(&mut dtq(&["--help"])), run(&mut Program::command(&["--help"]))] {
        assert!(ended.out.contains("Exit codes:\n  0    done\n"), "{}", ended.out);
    }
}

#[test]
fn what_needs_tasks_says_which_program_has_them() {
    for verb in ["worker", "tasks"] {
        let ended = run(&mut dtq(&[verb]));
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(&format!("`{verb}` is a command of the program that has them")), "{ended:?}");
    }
}

#[test]
fn completions_name_the_program_and_its_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for (ended, name) in [
            (run(&mut dtq(&["completions", shell])), "dtq"),
            (run(&mut Program::command(&["completions", shell])), "e2e_worker"),
        ] {
            assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{shell}");
            assert!(ended.out.contains(name) && ended.out.contains("doctor"), "{shell}: {}", ended.out);
        }
    }
}

#[test]
fn a_queue_can_be_held_back_before_there_is_a_store() {
    for verb in [&["queue", "pause", "mail"][..], &["queue", "limits", "mail", "--depth", "9"]] {
        let folder = dtq_tests::TempDir::new();
        let ended = run(dtq(verb).current_dir(folder.path()));
        assert_eq!(ended.code, Some(0), "{verb:?}: {ended:?}");
        assert!(folder.path().join("dtq.db").exists());
    }
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking() {
    let folder = dtq_tests::TempDir::new();
    for verb in [&["status"][..], &["doctor"], &["queue", "list"], &["events"], &["workers"], &["audit"]] {
        let ended = run(dtq(verb).current_dir(folder.path()));
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{verb:?}: {ended:?}");
        assert!(ended.err.starts_with("dtq: there is no store at dtq.db (from the default)"), "{ended:?}");
    }
    assert!(!folder.path().join("dtq.db").exists());
    assert_eq!(run(dtq(&["enqueue", "a"]).current_dir(folder.path())).code, Some(0));
    assert_eq!(run(dtq(&["status"]).current_dir(folder.path())).code, Some(0));
}

#[test]
fn a_misspelt_verb_finds_the_right_one() {
    for mut command in [dtq(&["stauts"]), Program::command(&["stauts"])] {
        let ended = run(&mut command);
        assert_eq!(ended.code, Some(2));
        assert!(ended.err.contains("'status'"), "{ended:?}");
    }
}

#[test]
fn a_wrong_setting_of_workers_stops_no_other_verb() {
    let folder = dtq_tests::TempDir::new();
    let ended = run(dtq(&["enqueue", "a"]).env("DTQ_LEASE", "soon").current_dir(folder.path()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_password_is_in_no_answer() {
    const SECRET: &str = "hunter2";
    let id = "default:0192e4a0-7b1c-7c3e-9d52-3f1a2b4c5d6e";
    for url in ["redis://me:hunter2@127.0.0.1:1/", "redis://:hunter2@host:port/", "amqp://me:hunter2@host/", "hunter2"]
    {
        for verb in
            [&["status"][..], &["doctor"], &["get", id], &["events", "--follow"], &["enqueue", "a"], &["--help"]]
        {
            for mut command in [dtq(&[verb, &["--url", url]].concat()), dtq(verb)] {
                let ended = run(command.env("DTQ_URL", url).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1"));
                assert!(!format!("{ended:?}").contains(SECRET), "{verb:?}: {ended:?}");
            }
        }
    }
}
