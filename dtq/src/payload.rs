//! Encoded arguments held against a task's function, before they are stored: which are unknown, missing, or of another type.

use serde_json::{Map, Value};

use crate::registry::Registration;
use crate::suggest;

/// Why arguments do not fit a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// They are not a JSON object.
    #[error("the arguments are not a JSON object such as {example}: {detail}")]
    NotAnObject {
        /// What they could look like.
        example: String,
        /// The parser's words.
        detail: String,
    },
    /// One that the function does not take.
    #[error("unknown argument `{name}`{hint}")]
    Unknown {
        /// The argument.
        name: String,
        /// What may have been meant, and what there is.
        hint: String,
    },
    /// One that the function needs.
    #[error("the argument `{name}` is missing")]
    Missing {
        /// The argument.
        name: String,
    },
    /// One of another type than the function's.
    #[error("the argument `{name}`: {detail}")]
    Type {
        /// The argument.
        name: String,
        /// The decoder's words.
        detail: String,
    },
    /// They do not decode for another reason.
    #[error("the arguments do not decode: {0}")]
    Undecodable(String),
}

/// Holds a payload against a task.
pub(crate) fn check(task: &Registration, payload: &[u8]) -> Result<(), PayloadError> {
    let given = object(task, payload)?;
    let known = |name: &str| task.def.arguments.contains(&name) || task.def.argument_aliases.contains(&name);
    if let Some(name) = given.keys().find(|name| !known(name)) {
        return Err(PayloadError::Unknown { name: name.clone(), hint: hint(name, task.def.arguments) });
    }
    // What a worker will do is what counts; its words name the argument.
    let Err(error) = (task.decodes)(payload) else { return Ok(()) };
    let quoted = |prefix: &str| error.strip_prefix(prefix)?.split_once('`');
    if let Some((name, _)) = quoted("missing field `") {
        return Err(PayloadError::Missing { name: name.to_owned() });
    }
    match quoted("argument `") {
        Some((name, rest)) => {
            let detail = without_place(rest.trim_start_matches(": ")).to_owned();
            Err(PayloadError::Type { name: name.to_owned(), detail })
        }
        None => Err(PayloadError::Undecodable(error)),
    }
}

/// What the arguments of a task could look like.
pub(crate) fn example(arguments: &[&str]) -> String {
    let arguments: Vec<_> = arguments.iter().map(|name| format!("\"{name}\": ..")).collect();
    format!("{{{}}}", arguments.join(", "))
}

fn object(task: &Registration, payload: &[u8]) -> Result<Map<String, Value>, PayloadError> {
    let not = |detail: String| PayloadError::NotAnObject { example: example(task.def.arguments), detail };
    match serde_json::from_slice(payload) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(Value::Array(_)) => Err(not("they are an array".into())),
        Ok(_) => Err(not("they are a single value".into())),
        Err(error) => Err(not(error.to_string())),
    }
}

/// The decoder's words without `at line 1 column 7`, which speaks of a text that nobody wrote.
fn without_place(error: &str) -> &str {
    error.rsplit_once(" at line ").map_or(error, |(words, _)| words)
}

fn hint(name: &str, arguments: &[&str]) -> String {
    match (suggest::nearest(name, arguments), arguments) {
        (Some(meant), _) => format!(": did you mean `{meant}`?"),
        (None, []) => ": the task takes none".into(),
        (None, _) => format!(": the task takes {}", suggest::list(arguments)),
    }
}
