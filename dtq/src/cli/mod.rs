//! `#[dtq::main]`: the whole program around a user's set-up.

mod args;
mod enqueue;
mod ready_file;
mod settings;
mod tasks;
mod work;

use std::future::Future;
use std::io::{ErrorKind, Write};
use std::pin::Pin;
use std::process::ExitCode;

use crate::app::App;
use crate::client::Client;
use crate::error::{BoxError, IntoTaskError};
use crate::registry::{Registry, RegistryError};

use args::{Args, Command};
use settings::Settings;

/// The user's set-up, running.
pub type SetUp<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + 'a>>;

/// Exit codes, stable for scripts and supervisors.
mod exit {
    /// Something failed at work.
    pub(super) const FAILURE: u8 = 1;
    /// A setting, an option or a task definition is not usable.
    pub(super) const USAGE: u8 = 2;
    /// Set-up failed.
    pub(super) const SET_UP: u8 = 3;
    /// Some tasks did not finish within the drain timeout and were given back.
    pub(super) const NOT_DRAINED: u8 = 4;
    /// A second signal cut the shutdown short.
    pub(super) const INTERRUPTED: u8 = 130;
}

/// A failure with the exit code it means.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn usage(error: impl ToString) -> Self {
        Self { code: exit::USAGE, message: error.to_string() }
    }

    fn set_up(error: BoxError) -> Self {
        Self { code: exit::SET_UP, message: format!("set-up: {error}") }
    }

    fn work(error: impl ToString) -> Self {
        Self { code: exit::FAILURE, message: error.to_string() }
    }
}

/// What a set-up function returned, as what the program understands.
///
/// # Errors
/// When set-up failed.
pub fn setup_result<R: SetUpResult<M>, M>(returned: R) -> Result<(), BoxError> {
    returned.into_result()
}

/// What a set-up function may return.
#[diagnostic::on_unimplemented(
    message = "a set-up function cannot return `{Self}`",
    label = "not the result of a set-up",
    note = "return `()` or `Result<(), E>`, where `E` is any error that a task may return, such as `anyhow::Error`"
)]
pub trait SetUpResult<M> {
    /// The same as a `Result` with a boxed error.
    ///
    /// # Errors
    /// When set-up failed.
    fn into_result(self) -> Result<(), BoxError>;
}

/// Marker: a set-up that cannot fail.
#[derive(Debug)]
pub struct Unfailing;

impl SetUpResult<Unfailing> for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: IntoTaskError<M>, M> SetUpResult<M> for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(|error| error.into_task_error().to_string().into())
    }
}

/// The program: parses the command line, reads the settings, runs set-up, works.
pub fn main(program: &'static str, set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>) -> ExitCode {
    let args = Args::parse_as(program);
    match run(args, set_up) {
        Ok(code) => code,
        Err(failure) => {
            complain(program, &failure.message);
            ExitCode::from(failure.code)
        }
    }
}

fn run(args: Args, set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>) -> Result<ExitCode, Failure> {
    let settings = Settings::read(&args).map_err(Failure::usage)?;
    match args.command.unwrap_or(Command::Worker) {
        Command::Tasks { json, set_up: asked } => {
            let found = |registry: &Registry| !asked && registry.iter().next().is_some();
            tasks::list(&registry(&settings, set_up, found)?, json)
        }
        Command::Enqueue(call) => {
            let registry = registry(&settings, set_up, |registry| registry.get(&call.task).is_some())?;
            call.run(&registry, &client(&settings)?)
        }
        Command::Worker => {
            settings.install_logging();
            work::run(settings, set_up)
        }
    }
}

/// The tasks for a command that is no worker. Set-up may connect to much that such a command does not need, so it runs
/// only when what was linked is not `enough`.
fn registry(
    settings: &Settings,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
    enough: impl FnOnce(&Registry) -> bool,
) -> Result<Registry, Failure> {
    let mut app = App::new();
    match app.registry() {
        Ok(registry) if enough(&registry) => return Ok(registry),
        Ok(_) | Err(RegistryError::Empty) => {}
        Err(error) => return Err(Failure::usage(error)),
    }
    client(settings)?.make_current();
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::work)?;
    runtime.block_on(set_up(&mut app)).map_err(Failure::set_up)?;
    app.registry().map_err(Failure::usage)
}

fn client(settings: &Settings) -> Result<Client, Failure> {
    let url = &settings.url;
    Client::connect(&url.value).map_err(|error| Failure::usage(format!("url (from {}): {error}", url.source)))
}

/// Writes an answer.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough (`| head`) is not a failure.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::work(error)),
        _ => Ok(()),
    }
}

#[allow(clippy::print_stderr, reason = "the one place where the program speaks without logging")]
fn complain(program: &str, message: &str) {
    eprintln!("{program}: {message}");
}
