//! Raw function, valid form and valid settings to a valid subscriber.

use syn::{ReturnType, Type};

use super::form::{Channel, Form, Kind};
use super::options::Options;
use super::params::{self, Param};
use crate::errors::Errors;
use crate::function::{self, Function};
use crate::task::types;

/// A subscriber of which code can be made.
pub(crate) struct Subscriber {
    pub(crate) function: Function,
    pub(crate) form: Form,
    pub(crate) options: Options,
    pub(crate) params: Vec<Param>,
    /// Its name in logs.
    pub(crate) name: String,
}

/// Gives the function back when nothing can be made of it.
pub(crate) fn validate(
    function: Function,
    form: Option<Form>,
    mut options: Options,
    errors: &mut Errors,
) -> Result<Subscriber, Box<Function>> {
    function::refuse_forms(&function, "a subscriber", errors);
    refuse_repetition(&function, errors);
    let params = params::validate(function.sig.inputs.iter(), errors);
    if let ReturnType::Type(_, ty) = &function.sig.output {
        check_return(ty, errors);
    }
    let returns = returns_something(&function.sig.output);
    if !returns && let Some(rule) = options.permanent_if.take() {
        errors.at(
            rule,
            "`permanent_if` looks at a subscriber's errors, and this one returns none: return a `Result<(), E>`",
        );
    }
    if let Some(form) = &form {
        refuse_lost_copies(form, returns, errors);
    }
    let Some(form) = form.filter(|_| errors.is_empty()) else { return Err(Box::new(function)) };
    let ident = syn::ext::IdentExt::unraw(&function.sig.ident).to_string();
    let name = options.name.take().unwrap_or(ident);
    Ok(Subscriber { function, form, options, params, name })
}

/// Words that are seen in the tokens alone; the rest is for the traits to say.
fn check_return(ty: &Type, errors: &mut Errors) {
    match types::peel(ty) {
        Type::Never(never) => errors.at(never, "a subscriber ends: return `()` in place of `!`"),
        Type::ImplTrait(it) => {
            errors.at(it, "write a concrete type in place of `impl Trait`: `Outcome`, or `Result<(), E>`");
        }
        _ => {}
    }
}

fn returns_something(output: &ReturnType) -> bool {
    match output {
        ReturnType::Default => false,
        ReturnType::Type(_, ty) => !matches!(types::peel(ty), Type::Tuple(tuple) if tuple.elems.is_empty()),
    }
}

/// A pattern has no channel of its own to which a copy could go.
fn refuse_lost_copies(form: &Form, returns: bool, errors: &mut Errors) {
    let Kind::PubSub { channel: Channel::Pattern(_), back_to: None } = &form.kind else { return };
    if returns {
        errors.at(
            &form.name,
            "a later attempt is a copy that is published again, and a pattern is no channel: name one with \
             `.back_to(\"news.again\")`, or return nothing",
        );
    }
}

fn refuse_repetition(function: &Function, errors: &mut Errors) {
    for attr in &function.attrs {
        let names: Vec<_> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["dtq", "subscriber"] => {
                errors.at(
                    &attr.meta,
                    "a subscriber reads from one place: write one function for each, or use `App::subscribe_from`",
                );
            }
            ["dtq", "task"] => {
                errors.at(&attr.meta, "a function is a task or a subscriber: let the subscriber enqueue the task");
            }
            _ => {}
        }
    }
}
