//! Where answers go: to people on a terminal, or to a program.

mod escape;
mod json;
mod table;
mod times;

use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use super::failure::{Done, Failure};

pub(super) use escape::escape;
pub(super) use json::{RecordShape, raw};
pub(super) use table::{Cell, Column, Paint, Table, number, prose, word};
pub(super) use times::{absolute, instant, relative, span};

/// A way for answers. What is written is flushed at once: a reader may be following.
pub(super) struct Output {
    sink: Box<dyn Write>,
    terminal: bool,
    /// Columns of the terminal, where it tells.
    width: Option<usize>,
    colours: bool,
}

impl Output {
    /// Standard output.
    pub(super) fn standard() -> Self {
        let terminal = std::io::stdout().is_terminal();
        let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let plain = set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            sink: Box::new(std::io::stdout()),
            width: terminal.then(size).flatten(),
            colours: terminal && !plain,
            terminal,
        }
    }

    /// True when people read it, at a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// One line for people, in which nothing acts on a terminal.
    pub(super) fn line(&mut self, text: &str) -> Done {
        self.write(&format!("{}\n", escape(text)))
    }

    /// A table for people; `nothing` is said beside the answer when it has no rows.
    pub(super) fn table(&mut self, table: &Table, nothing: &str) -> Done {
        match table.is_empty() {
            true => note(nothing),
            false => self.write(&table.render(self.width, self.colours))?,
        }
        Ok(())
    }

    /// Names and values, one under the other.
    pub(super) fn sheet(&mut self, rows: &[(&str, Cell)]) -> Done {
        let mut table = Table::sheet();
        for (name, value) in rows {
            table.row([format!("{name}:").into(), value.clone()]);
        }
        self.write(&table.body(self.colours))
    }

    /// One object for a program, on one line.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Done {
        let text = serde_json::to_string(value).map_err(Failure::work)?;
        self.write(&(text + "\n"))
    }

    /// Text as it is.
    pub(super) fn write(&mut self, text: &str) -> Done {
        match self.sink.write_all(text.as_bytes()).and_then(|()| self.sink.flush()) {
            // A reader that has seen enough (`| head`) is not a failure, but there is nobody to tell any more.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::silent(0)),
            Err(error) => Err(Failure::work(format!("the answer cannot be written: {error}"))),
            Ok(()) => Ok(()),
        }
    }
}

/// A word beside the answer, which no program reads.
#[allow(clippy::print_stderr, reason = "a command speaks without logging")]
pub(super) fn note(text: &str) {
    eprintln!("{}", escape(text));
}
