//! Raw function and settings to a valid test.

use syn::{Attribute, FnArg, Path, ReturnType, Type};

use crate::entries::Entry;
use crate::errors::Errors;
use crate::function::{self, Function};
use crate::task::types;
use crate::{suggest, values};

/// A function of which a test can be made.
pub(crate) struct Test {
    pub(crate) function: Function,
    /// The type of its parameter.
    pub(crate) app: Type,
    pub(crate) several_threads: bool,
    pub(crate) krate: Option<Path>,
}

const KEYS: [&str; 2] = ["flavor", "crate"];

/// Gives the function back when nothing can be made of it.
pub(crate) fn validate(mut function: Function, settings: &[Entry], errors: &mut Errors) -> Result<Test, Box<Function>> {
    let (several_threads, krate) = options(settings, errors);
    function::refuse_forms(&function, "a test", errors);
    if function.sig.asyncness.is_none() {
        errors.at(function.sig.fn_token, "a test of tasks awaits them: write `async fn`");
    }
    for attr in function.attrs.iter().filter(|attr| is_test(attr)) {
        errors.at(&attr.meta, "`#[dtq::test]` makes the function a test by itself: remove this attribute");
    }
    // The compiler would complain of them again.
    function.attrs.retain(|attr| !is_test(attr));
    function::refuse_marks(&mut function, "a test's app is given to it by its type", errors);
    if let ReturnType::Type(_, ty) = &function.sig.output
        && let Type::ImplTrait(_) | Type::Never(_) = types::peel(ty)
    {
        errors.at(ty, "a test returns nothing or a `Result<(), E>`: write that");
    }
    match app(&function, errors) {
        Some(app) if errors.is_empty() => Ok(Test { function, app, several_threads, krate }),
        _ => Err(Box::new(function)),
    }
}

/// True for `#[test]`, `#[tokio::test]` and their like.
fn is_test(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "test")
}

fn app(function: &Function, errors: &mut Errors) -> Option<Type> {
    let mut inputs = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(input),
        // Refused with the other forms.
        FnArg::Receiver(_) => None,
    });
    let Some(first) = inputs.next() else {
        if function.sig.inputs.is_empty() {
            errors.at(&function.sig.ident, "a test takes its app, which holds its store and its clock: write `t: &TestApp` between the parentheses");
        }
        return None;
    };
    for more in inputs {
        errors.at(more, "a test takes `t: &TestApp` and nothing else: remove this parameter");
    }
    lent(&first.ty, errors).then(|| (*first.ty).clone())
}

/// True for `&T`, and for what macros by example may have put a group around.
fn lent(ty: &Type, errors: &mut Errors) -> bool {
    match types::reference(ty) {
        Some(reference) => {
            if let Some(mutability) = &reference.mutability {
                errors.at(mutability, "a test's app is shared with what it runs: take `&TestApp`");
            }
            reference.mutability.is_none()
        }
        None => {
            errors.at(ty, "a test's app is lent to it: take `t: &TestApp`");
            false
        }
    }
}

fn options(settings: &[Entry], errors: &mut Errors) -> (bool, Option<Path>) {
    let (mut several_threads, mut krate) = (false, None);
    for (index, entry) in settings.iter().enumerate() {
        let name = entry.name();
        if settings.iter().take(index).any(|before| before.name() == name) && KEYS.contains(&name.as_str()) {
            errors.at(&entry.key, format!("`{name}` is given twice: keep one of the two"));
            continue;
        }
        match name.as_str() {
            "flavor" => several_threads = flavor(entry, errors),
            "crate" => {
                if let Some(value) = entry.set("crate = \"path::to::dtq\"", errors) {
                    krate = values::path(value, "the path to dtq, such as `crate = \"::renamed_dtq\"`", errors);
                }
            }
            _ => unknown(entry, &name, errors),
        }
    }
    (several_threads, krate)
}

fn flavor(entry: &Entry, errors: &mut Errors) -> bool {
    let wanted = "the flavor of the runtime, \"current_thread\" or \"multi_thread\",";
    let Some(value) = entry.set("flavor = \"multi_thread\"", errors) else { return false };
    let Some(text) = values::string(value, wanted, errors) else { return false };
    let flavor = text.value();
    if !["current_thread", "multi_thread"].contains(&flavor.as_str()) {
        let hint = suggest::hint(&flavor, &["current_thread", "multi_thread"]);
        errors.at(text, format!("there is no runtime of the flavor `{flavor}`: {hint}"));
    }
    flavor == "multi_thread"
}

fn unknown(entry: &Entry, name: &str, errors: &mut Errors) {
    let remedy = match name {
        "start_paused" | "paused" => {
            "; the clock of the test's store stands still by itself: move it with `t.advance(..)`"
        }
        "worker_threads" | "threads" => "; write `flavor = \"multi_thread\"`, which has two threads",
        "store" | "url" => "; a test's store is in memory",
        "state" => "; give state in the test: `t.state(..)`",
        _ => "",
    };
    let hint = suggest::hint(name, &KEYS);
    errors.at(&entry.key, format!("unknown option `{name}`: {hint}{remedy}"));
}
