//! Asking before something is done that cannot be undone.

use std::io::{BufRead, IsTerminal, Write};

use super::failure::{Done, Failure};
use super::output::escape;

/// Whether to ask.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Consent {
    /// Do it without a question: for scripts
    #[arg(long, short = 'y')]
    yes: bool,
}

impl Consent {
    /// Says what will be touched, and asks at a terminal; `--yes` answers.
    pub(super) fn ask(&self, what: &str) -> Done {
        let stdin = std::io::stdin();
        match (self.yes, stdin.is_terminal()) {
            (true, _) => Ok(()),
            (false, false) => Err(Failure::usage(format!(
                "{}\nNothing was done: there is nobody to ask here. Say --yes to do it without a question",
                escape_lines(what)
            ))),
            (false, true) => put(what, &mut stdin.lock(), &mut std::io::stderr()),
        }
    }
}

/// Puts the question; anything but a yes means no.
fn put(what: &str, answers: &mut dyn BufRead, asks: &mut dyn Write) -> Done {
    let mut answer = String::new();
    let asked = write!(asks, "{}\nDo it? [y/N] ", escape_lines(what)).and_then(|()| asks.flush());
    asked.and_then(|()| answers.read_line(&mut answer)).map_err(Failure::work)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::work("nothing was done")),
    }
}

fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answer: &str) -> (Done, String) {
        let mut asked = Vec::new();
        let done = put("This drops 3 tasks of \u{1b}[2J:\n  one", &mut answer.as_bytes(), &mut asked);
        (done, String::from_utf8(asked).unwrap())
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in ["y\n", "Y\n", " yes \n", "YES"] {
            assert!(answered(yes).0.is_ok(), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "yess\n", "no\n"] {
            let (done, asked) = answered(no);
            assert_eq!(done.unwrap_err().message, "nothing was done", "{no:?}");
            assert_eq!(asked, "This drops 3 tasks of \\u{1b}[2J:\n  one\nDo it? [y/N] ");
        }
    }

    #[test]
    fn a_yes_beforehand_asks_nothing() {
        assert!(Consent { yes: true }.ask("anything").is_ok());
    }
}
