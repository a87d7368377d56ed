//! Raw function and valid settings to a valid task.

use syn::ReturnType;

use super::name::{self, Kind};
use super::options::Options;
use super::params::{self, Param};
use super::types;
use crate::errors::Errors;
use crate::function::{self, Function};

/// A task of which code can be made.
pub(crate) struct Task {
    pub(crate) function: Function,
    pub(crate) options: Options,
    pub(crate) params: Vec<Param>,
    /// The name under which it is stored.
    pub(crate) name: String,
}

/// Gives the function back when nothing can be made of it.
pub(crate) fn validate(function: Function, mut options: Options, errors: &mut Errors) -> Result<Task, Box<Function>> {
    let before = errors.count();
    function::refuse_forms(&function, "a task", errors);
    refuse_repetition(&function, errors);
    types::refuse_undeclared(&function.sig, errors);
    let params = params::validate(function.sig.inputs.iter(), errors);
    if let ReturnType::Type(_, ty) = &function.sig.output {
        types::check_return(ty, errors);
    }
    if errors.count() > before {
        return Err(Box::new(function));
    }
    let name = stored_name(&function, &options, errors);
    if options.schedule.is_given() {
        refuse_arguments(&params, errors);
    }
    for alias in options.aliases.iter().filter(|alias| alias.value() == name) {
        errors.at(alias, format!("`{name}` is the task's own name: remove it from the list"));
    }
    if matches!(function.sig.output, ReturnType::Default)
        && let Some(rule) = options.permanent_if.take()
    {
        errors.at(rule, "`permanent_if` looks at a task's errors, and this task returns none: return a `Result<T, E>`");
    }
    // What does not fit is told of, and left out of the code that is emitted beside.
    options.idempotency_key.take_if(|key| !key.template.fits(&params, errors));
    options.unique.take_if(|key| !key.template.fits(&params, errors));
    Ok(Task { function, options, params, name })
}

/// Nobody is there to give a scheduled task its arguments.
fn refuse_arguments(params: &[Param], errors: &mut Errors) {
    for param in params {
        if let Param::Argument(argument) = param
            && !argument.default
        {
            let name = &argument.ident;
            errors.at(
                name,
                format!(
                    "a schedule calls the task without arguments: write `#[arg(default)] {name}`, or leave the schedule out and add \
                     it at run time with `client.schedules().add(..)`"
                ),
            );
        }
    }
}

fn stored_name(function: &Function, options: &Options, errors: &mut Errors) -> String {
    if let Some(name) = &options.name {
        return name.clone();
    }
    let name = syn::ext::IdentExt::unraw(&function.sig.ident).to_string();
    if let Err(problem) = name::check(Kind::Task, &name) {
        errors.at(
            &function.sig.ident,
            format!("{problem}; or give the task a name of its own: `#[dtq::task(name = \"..\")]`"),
        );
    }
    name
}

fn refuse_repetition(function: &Function, errors: &mut Errors) {
    for attr in &function.attrs {
        let names: Vec<_> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["dtq", "task"] | ["task"] => {
                errors.at(&attr.meta, "the function is a task already: write all options in one `#[dtq::task(..)]`");
            }
            ["dtq", "subscriber"] => {
                errors.at(&attr.meta, "a function is a task or a subscriber: let the subscriber enqueue the task");
            }
            ["dtq", other @ ("main" | "test")] => {
                errors.at(&attr.meta, format!("a function is a task or a `#[dtq::{other}]`: remove one of the two"));
            }
            _ => {}
        }
    }
}
