//! Settings: where they are taken from, and what is said of wrong ones.

use dtq_tests::TempDir;

use super::{Ended, Program, run};

/// A folder with this dtq.toml.
fn folder(toml: &str) -> TempDir {
    let dir = TempDir::new();
    std::fs::write(dir.path().join("dtq.toml"), toml).unwrap();
    dir
}

/// The line with which a worker starts that has these settings.
async fn start_line(toml: Option<&str>, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let dir = toml.map_or_else(TempDir::new, folder);
    let program = Program::start_in(dir, Program::command(arguments).envs(variables.iter().copied()));
    program.logs("worker starts", 1).await;
    program.lines("worker starts").remove(0)
}

const TOML: Option<&str> = Some("concurrency = 3\nqueues = [\"from-file\"]\n");

#[tokio::test]
async fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let variable = [("DTQ_CONCURRENCY", "5"), ("DTQ_QUEUES", "from-variable,second")];
    let flags = ["--concurrency", "7", "--queues", "from-flag"];
    for (line, concurrency, queue) in [
        (start_line(None, &[], &[]).await, "concurrency=64", "\"default\""),
        (start_line(TOML, &[], &[]).await, "concurrency=3", "\"from-file\""),
        (start_line(TOML, &variable, &[]).await, "concurrency=5", "\"from-variable, second\""),
        (start_line(TOML, &variable, &flags).await, "concurrency=7", "\"from-flag\""),
        (start_line(TOML, &[], &["--concurrency=7", "worker"]).await, "concurrency=7", "\"from-file\""),
    ] {
        assert!(line.contains(concurrency) && line.contains(queue), "{line}");
    }
}

#[tokio::test]
async fn every_place_may_name_the_store() {
    let dir = folder("url = \"sqlite:from-file.db\"\n");
    let path = dir.path().to_path_buf();
    let program = Program::start_in(dir, &mut Program::command(&[]));
    program.logs("worker starts", 1).await;
    assert!(path.join("from-file.db").exists() && !path.join("dtq.db").exists());
    let dir = TempDir::new();
    let path = dir.path().to_path_buf();
    // An empty variable is one that is not set, as for clients.
    let program = Program::start_in(dir, Program::command(&[]).env("DTQ_URL", ""));
    program.logs("worker starts", 1).await;
    assert!(path.join("dtq.db").exists());
    // So the file is asked then.
    let dir = folder("url = \"sqlite:from-file.db\"\n");
    let path = dir.path().to_path_buf();
    let program = Program::start_in(dir, Program::command(&[]).env("DTQ_URL", ""));
    program.logs("worker starts", 1).await;
    assert!(path.join("from-file.db").exists() && !path.join("dtq.db").exists());
}

#[tokio::test]
async fn another_settings_file_may_be_named() {
    let dir = TempDir::new();
    std::fs::write(dir.path().join("other.toml"), "concurrency = 9").unwrap();
    let program = Program::start_in(dir, &mut Program::command(&["--config", "other.toml"]));
    program.logs("concurrency=9", 1).await;
}

fn refused(toml: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let dir = folder(toml);
    let ended = run(Program::command(arguments).envs(variables.iter().copied()).current_dir(dir.path()));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.out.is_empty(), "{ended:?}");
    ended
}

#[test]
fn a_wrong_setting_is_named_with_the_place_it_came_from() {
    for (toml, variables, arguments, words) in [
        ("", vec![], vec!["--lease", "soon"], vec!["lease (from --lease)", "\"soon\" is not a duration such as 30s"]),
        ("", vec![("DTQ_LEASE", "soon")], vec![], vec!["lease (from DTQ_LEASE)"]),
        ("lease = \"soon\"", vec![], vec![], vec!["lease (from dtq.toml)"]),
        ("", vec![("DTQ_DRAIN_TIMEOUT", "-1s")], vec![], vec!["drain-timeout (from DTQ_DRAIN_TIMEOUT)"]),
        ("", vec![], vec!["--lease=10ms"], vec!["lease (from --lease)", "between 100ms and 1day"]),
        ("concurrency = 0", vec![], vec![], vec!["concurrency (from dtq.toml)", "at least 1"]),
        ("", vec![("DTQ_CONCURRENCY", "0")], vec![], vec!["concurrency (from DTQ_CONCURRENCY)"]),
        ("", vec![("DTQ_CONCURRENCY", "many")], vec![], vec!["concurrency (from DTQ_CONCURRENCY)", "\"many\""]),
        ("", vec![], vec!["--prefetch=-1"], vec!["prefetch (from --prefetch)"]),
        ("", vec![("DTQ_PREFETCH", "few")], vec![], vec!["prefetch (from DTQ_PREFETCH)", "\"few\""]),
        ("", vec![], vec!["--queues", "a,b c"], vec!["queues (from --queues)", "\"b c\""]),
        ("queues = [\"a=2\", \"b\"]", vec![], vec![], vec!["queues (from dtq.toml)", "give every queue a weight"]),
        ("", vec![("DTQ_QUEUES", "a=0")], vec![], vec!["queues (from DTQ_QUEUES)", "a weight is a whole number"]),
        ("", vec![], vec!["--log-format", "xml"], vec!["log-format (from --log-format)", "neither text nor json"]),
        ("lease = \"30s\"\nlaese = 1\n", vec![], vec![], vec!["dtq.toml", "line 2", "laese"]),
        ("lease = 30", vec![], vec![], vec!["dtq.toml", "line 1", "string"]),
        ("lease = ", vec![], vec![], vec!["dtq.toml", "line 1"]),
        ("", vec![], vec!["--config", "none.toml"], vec!["none.toml cannot be read"]),
        ("", vec![], vec!["--url", "amqp://host"], vec!["url (from --url)", "sqlite:FILE"]),
        ("", vec![("DTQ_URL", "redis://")], vec!["--nonsense"], vec!["--nonsense"]),
        ("url = \"sqlite:\"", vec![], vec![], vec!["url (from dtq.toml)", "names no file"]),
        ("", vec![], vec!["wroker"], vec!["wroker", "worker"]),
    ] {
        let ended = refused(toml, &variables, &arguments);
        for word in words {
            assert!(ended.err.contains(word), "{toml:?} {variables:?} {arguments:?}: {word:?} is not in {}", ended.err);
        }
    }
}

/// Each setting with a value that it cannot have.
const WRONG: [(&str, &str); 10] = [
    ("url", "amqp://host"),
    ("queues", "a b"),
    ("concurrency", "0"),
    ("prefetch", "-1"),
    ("lease", "soon"),
    ("drain-timeout", "soon"),
    ("cancel-grace", "soon"),
    ("ready-threshold", "soon"),
    ("ready-file", "no/such/folder/ready"),
    ("log-format", "xml"),
];

#[test]
fn every_setting_is_read_from_each_place_and_the_stronger_one_wins() {
    for (setting, wrong) in WRONG {
        let variable = format!("DTQ_{}", setting.replace('-', "_").to_uppercase());
        let flag = format!("--{setting}={wrong}");
        let toml = match setting {
            "queues" => format!("queues = [\"{wrong}\"]"),
            "concurrency" => format!("concurrency = {wrong}"),
            // A negative number is refused by the file's own reader.
            "prefetch" => "prefetch = 3".into(),
            _ => format!("{setting} = \"{wrong}\""),
        };
        let variables = [(variable.as_str(), wrong)];
        let said = |ended: Ended, place: &str| {
            let words = format!("{setting} (from {place})");
            assert!(ended.err.contains(&words), "{words:?} is not in {}", ended.err);
        };
        said(refused(&toml, &variables, &[&flag]), &format!("--{setting}"));
        said(refused(&toml, &variables, &[]), &variable);
        if setting != "prefetch" {
            said(refused(&toml, &[], &[]), "dtq.toml");
        }
    }
}

#[test]
fn a_wrong_url_is_not_repeated_wherever_it_came_from() {
    const SECRET: &str = "hunter2";
    for url in ["amqp://me:hunter2@host/", "redis://:hunter2@host:port/", "redis://:hunter2@ho st/", "hunter2"] {
        for ended in [
            refused("", &[], &["--url", url]),
            refused("", &[("DTQ_URL", url)], &[]),
            refused(&format!("url = \"{url}\""), &[], &[]),
            refused(&format!("url = \"{url}\"\nurl = 1"), &[], &[]),
            refused(&format!("url = {url}"), &[], &[]),
        ] {
            assert!(!ended.err.contains(SECRET), "{ended:?}");
        }
    }
}

#[tokio::test]
async fn a_password_is_in_no_log_line_of_a_worker_that_waits_for_its_store() {
    let mut command = Program::command(&[]);
    command.env("DTQ_URL", "redis://me:hunter2@127.0.0.1:1/").env("RUST_LOG", "debug");
    let program = Program::start(&mut command);
    program.logs("the worker starts and waits for it", 1).await;
    program.logs("the store still fails", 2).await;
    assert!(!program.log().contains("hunter2"), "{}", program.log());
    program.signal("TERM");
    assert_eq!(program.exits().await.0, Some(0), "{}", program.log());
}
