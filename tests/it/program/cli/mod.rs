//! The command line, by real processes: every verb in a user's program and in `dtq`, on both stores.

mod audit;
mod cancel;
mod dlq;
mod doctor;
mod events;
mod get;
mod help;
mod list;
mod nasty;
mod queues;
mod schedules;
mod status;
mod steering;
mod unchecked;

use std::path::Path;
use std::process::Command;

use dtq_tests::World;
use serde_json::Value;

use super::{Desk, Ended, PATIENCE, Program, on_both_stores, run};

/// The command `dtq`, with nothing of the test's own environment.
fn dtq(arguments: &[&str]) -> Command {
    let path = Path::new(env!("CARGO_BIN_EXE_e2e_worker")).parent().unwrap().join("dtq");
    assert!(path.exists(), "{} is missing: run `cargo build -p dtq --bins` first", path.display());
    Program::command_of(path.to_str().unwrap(), arguments)
}

impl Desk {
    /// Runs `dtq` on this desk's store.
    fn dtq(&self, arguments: &[&str]) -> Ended {
        run(dtq(arguments).env("DTQ_URL", &self.url))
    }

    /// Runs `dtq`, which must do well and say nothing beside its answer.
    fn answer(&self, arguments: &[&str]) -> String {
        let ended = self.dtq(arguments);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}: {ended:?}");
        ended.out
    }

    /// The same with `--json`: an object for each line.
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        objects(&self.answer(&[arguments, &["--json"]].concat()))
    }

    /// Checks that a user's program answers as `dtq` does.
    fn same_in_a_users_program(&self, arguments: &[&str]) {
        let program = run(Program::command(arguments).env("DTQ_URL", &self.url));
        let tool = self.dtq(arguments);
        assert_eq!((program.code, tidy(&program.out)), (tool.code, tidy(&tool.out)), "{arguments:?}: {}", program.err);
    }
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))).collect()
}

/// The answer with everything that differs from run to run replaced: instants, times passed, and ids. Blanks are made one,
/// for the width of a column may depend on these.
fn tidy(text: &str) -> String {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<_> = line.split_whitespace().collect();
        format!("{}{}", " ".repeat(indent), tidy_words(&words).join(" "))
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

fn tidy_words(words: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        let is_hex = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_day = word.len() == 10 && word.bytes().filter(|&byte| byte == b'-').count() == 2;
        let is_time = word.ends_with('Z') && word.contains(':');
        let is_span =
            |text: &str| text.ends_with(['s', 'm', 'h', 'd']) && text.starts_with(|first: char| first.is_ascii_digit());
        let bare = word.trim_matches(['(', ')', ',']);
        let tidied = match *word {
            _ if is_day || is_time => "AT".to_owned(),
            _ if is_hex(word) => "WORKER".to_owned(),
            word if is_span(bare) => word.replace(bare, "SPAN"),
            word => match word.trim_end_matches([':', ',']).parse::<dtq::types::TaskId>() {
                Ok(id) => word.replace(&id.uuid().to_string(), "UUID"),
                Err(_) => word.to_owned(),
            },
        };
        // A day and its time are one instant, `5h 12m` is one span.
        let goes_on =
            (tidied == "AT" || tidied.starts_with("SPAN")) && out.last().is_some_and(|last| tidied.starts_with(last));
        match goes_on {
            true => *out.last_mut().unwrap() = tidied,
            false => out.push(tidied),
        }
    }
    out
}

/// An answer that is easy to read in a test, without the blanks that its lines begin with there.
fn lines(text: &str) -> String {
    let text = text.trim_start_matches('\n').trim_end();
    let indent = text.lines().next().map_or(0, |line| line.len() - line.trim_start().len());
    text.lines().map(|line| format!("{}\n", line.get(indent..).unwrap_or("").trim_end())).collect()
}
