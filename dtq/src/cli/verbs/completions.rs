//! `completions`: for the shells that people use.

use clap::{Args, CommandFactory};

use crate::cli::args::named;
use crate::cli::failure::Done;
use crate::cli::output::Output;

/// Load them, for example, with: source <(dtq completions bash)
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    /// Prints those of a program of this name.
    pub(in crate::cli) fn run<A: CommandFactory>(&self, program: &'static str) -> Done {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut named::<A>(program), program, &mut text);
        Output::standard().write(&String::from_utf8_lossy(&text))
    }
}
