//! Raw function and settings to a valid program.

use syn::{Attribute, FnArg, Path, Type};

use crate::entries::Entry;
use crate::errors::Errors;
use crate::function::{self, Function};
use crate::{suggest, values};

/// A set-up function of which a program can be made.
pub(crate) struct Program {
    pub(crate) function: Function,
    /// The type of its parameter, when it takes the app.
    pub(crate) app: Option<Type>,
    pub(crate) krate: Option<Path>,
}

/// Gives the function back when nothing can be made of it.
pub(crate) fn validate(
    mut function: Function,
    settings: &[Entry],
    errors: &mut Errors,
) -> Result<Program, Box<Function>> {
    let krate = krate(settings, errors);
    function::refuse_forms(&function, "`main`", errors);
    if function.sig.asyncness.is_none() {
        errors.at(function.sig.fn_token, "`main` sets up an async program: write `async fn`");
    }
    if function.sig.ident != "main" {
        errors.at(&function.sig.ident, "#[dtq::main] writes the program's entry point: name the function `main`");
    }
    for attr in function.attrs.iter().filter(|attr| is_main(attr)) {
        errors.at(&attr.meta, "`#[dtq::main]` writes the whole program, its runtime too: remove this attribute");
    }
    // The compiler would complain of them again.
    function.attrs.retain(|attr| !is_main(attr));
    function::refuse_marks(&mut function, "the app is given to `main` by its type", errors);
    let app = app(&function, errors);
    if errors.is_empty() { Ok(Program { function, app, krate }) } else { Err(Box::new(function)) }
}

/// True for `#[tokio::main]` and its like.
fn is_main(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "main")
}

fn app(function: &Function, errors: &mut Errors) -> Option<Type> {
    let mut inputs = function.sig.inputs.iter();
    let app = inputs.next().and_then(|first| match first {
        FnArg::Typed(first) => Some((*first.ty).clone()),
        FnArg::Receiver(_) => None,
    });
    for more in inputs {
        errors.at(more, "`main` takes `app: &mut App` and nothing else: remove this parameter");
    }
    if let Some(ty) = app.as_ref().filter(|ty| !matches!(ty, Type::Reference(_) | Type::Group(_))) {
        errors.at(ty, "the app is lent to `main`: take `app: &mut App`");
    }
    app
}

fn krate(settings: &[Entry], errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    for (index, entry) in settings.iter().enumerate() {
        let name = entry.name();
        if name != "crate" {
            let hint = suggest::hint(&name, &["crate"]);
            errors.at(&entry.key, format!("unknown option `{name}`: {hint}; a worker's settings are given at run time, by flags, `DTQ_*` variables or dtq.toml"));
        } else if settings.iter().take(index).any(|before| before.name() == name) {
            errors.at(&entry.key, "`crate` is given twice: keep one of the two");
        } else if let Some(value) = entry.set("crate = \"path::to::dtq\"", errors) {
            krate = values::path(value, "the path to dtq, such as `crate = \"::renamed_dtq\"`", errors);
        }
    }
    krate
}
