//! The command line of a user's program, `#[dtq::main]`, and of the command `dtq`. Both have the same verbs; they call
//! methods of the client and nothing else.

mod args;
mod confirm;
mod failure;
mod filter;
mod output;
mod ready_file;
mod session;
mod set_up;
mod settings;
mod signals;
mod verbs;
mod worker;

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use crate::app::App;
use crate::client::Client;
use crate::connect;
use crate::registry::{Registry, RegistryError};

use args::{Command, ProgramArgs, StoreArgs, ToolArgs, WorkerArgs, parse_as};
use failure::{Done, Failure};
use output::{Output, note};
use session::Session;
use settings::{Found, Places, Settings};
use verbs::Verb;

pub use set_up::{SetUp, setup_result};

/// The program around a user's tasks: parses the command line, reads the settings, runs set-up, works.
pub fn main(program: &'static str, set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>) -> ExitCode {
    finish(program, run_program(program, parse_as(program), set_up))
}

/// The command `dtq`.
pub fn tool() -> ExitCode {
    const NAME: &str = "dtq";
    finish(NAME, run_tool(NAME, parse_as(NAME)))
}

fn finish(program: &str, ended: Done<ExitCode>) -> ExitCode {
    ended.unwrap_or_else(|failure| {
        for line in failure.message.lines() {
            note(&format!("{program}: {line}"));
        }
        ExitCode::from(failure.code)
    })
}

fn run_program(
    program: &'static str,
    args: ProgramArgs,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
) -> Done<ExitCode> {
    let place = Place::read(&args.store);
    match args.command.unwrap_or_else(|| Command::Worker(WorkerArgs::default())) {
        Command::Completions(completions) => completions.run::<ProgramArgs>(program)?,
        Command::Worker(flags) => {
            let place = place?;
            let settings = Settings::read(&place.places, flags.or(args.worker)).map_err(Failure::usage)?;
            settings.install_logging();
            return worker::run(settings, || place.client(), set_up);
        }
        Command::Tasks(tasks) => {
            let found = |registry: &Registry| !tasks.set_up && registry.iter().next().is_some();
            tasks.list(&registry(&place?, set_up, found)?, &mut Output::standard())?;
        }
        Command::Verb(verb) => {
            let place = place?;
            let registry = match &verb {
                // Set-up may connect to much that such a command does not need.
                _ if verb.task().is_none() => App::new().registry().ok(),
                verb => Some(registry(&place, set_up, |it| verb.task().is_none_or(|name| it.get(name).is_some()))?),
            };
            steer(program, verb, &place, registry)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_tool(name: &'static str, args: ToolArgs) -> Done<ExitCode> {
    let without_tasks = |command| {
        Failure::usage(format!(
            "{name} has no tasks: `{command}` is a command of the program that has them (the one with #[dtq::main])"
        ))
    };
    match args.command {
        Command::Worker(_) => return Err(without_tasks("worker")),
        Command::Tasks(_) => return Err(without_tasks("tasks")),
        Command::Completions(completions) => completions.run::<ToolArgs>(name)?,
        Command::Verb(verb) => steer(name, verb, &Place::read(&args.store)?, None)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one verb against the store.
fn steer(program: &'static str, verb: Verb, place: &Place, registry: Option<Registry>) -> Done {
    if let Some(file) = connect::missing_file(&place.url.value).filter(|_| !verb.creates()) {
        let (file, source) = (file.display(), &place.url.source);
        return Err(Failure::work(format!(
            "there is no store at {file} (from {source}): no task was enqueued there yet. Name another one with --url or \
             DTQ_URL"
        )));
    }
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Failure::work)?;
    runtime.block_on(async {
        let mut session = Session { program, client: place.client()?, registry, out: Output::standard() };
        verb.run(&mut session).await
    })
}

/// Where the store is, and how that is known.
struct Place {
    places: Places,
    url: Found<String>,
}

impl Place {
    fn read(args: &StoreArgs) -> Done<Self> {
        let places = Places::read(args).map_err(Failure::usage)?;
        let url = places.url(args).map_err(Failure::usage)?;
        Ok(Self { places, url })
    }

    fn client(&self) -> Done<Client> {
        let source = &self.url.source;
        Client::connect(&self.url.value).map_err(|error| Failure::usage(format!("url (from {source}): {error}")))
    }
}

/// The tasks for a command that is no worker. Set-up may connect to much that such a command does not need, so it runs
/// only when what was linked is not `enough`.
fn registry(
    place: &Place,
    set_up: impl for<'a> FnOnce(&'a mut App) -> SetUp<'a>,
    enough: impl FnOnce(&Registry) -> bool,
) -> Done<Registry> {
    let mut app = App::new();
    match app.registry() {
        Ok(registry) if enough(&registry) => return Ok(registry),
        Ok(_) | Err(RegistryError::Empty) => {}
        Err(error) => return Err(Failure::usage(error)),
    }
    place.client()?.make_current();
    let runtime = Runtime::new().map_err(Failure::work)?;
    runtime.block_on(set_up(&mut app)).map_err(Failure::set_up)?;
    app.registry().map_err(Failure::usage)
}
