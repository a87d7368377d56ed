//! The tasks that `producer` and `worker` share. In a larger program this would be a library crate.

/// What a greeting begins with: shared state of the worker.
pub(crate) struct Salutation(pub(crate) String);

/// Greets somebody.
#[dtq::task(queue = "greetings", max_attempts = 3)]
pub(crate) async fn greet(#[state] salutation: &Salutation, name: String) -> String {
    format!("{}, {name}!", salutation.0)
}
