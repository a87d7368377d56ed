//! `permanent_if = path`: a function, a method, in a string, of every kind of error, on both kinds of function.
#![deny(warnings)]
use dtq::prelude::*;

type Declined = std::num::ParseIntError;
type Answer<T> = Result<T, Declined>;

fn is_final(error: &Declined) -> bool {
    error.to_string().is_empty()
}
mod rules {
    pub(super) struct Rules;
    impl Rules {
        pub(super) fn of_task_errors(error: &dtq::TaskError) -> bool {
            error.is_permanent()
        }
    }
    pub(super) fn of_anyhow(error: &anyhow::Error) -> bool {
        error.is::<std::fmt::Error>()
    }
    pub(super) fn of_anything<E>(_: &E) -> bool {
        true
    }
}

#[dtq::task(permanent_if = is_final)]
async fn aliased() -> Answer<u8> {
    "7".parse()
}
#[dtq::task(permanent_if = rules::Rules::of_task_errors, max_attempts = 3)]
async fn by_method() -> Result<(), TaskError> {
    Ok(())
}
#[dtq::task(permanent_if = "rules::of_anyhow")]
fn plain() -> anyhow::Result<()> {
    Ok(())
}
#[dtq::task(permanent_if = rules::of_anything)]
async fn generic() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}
#[dtq::task(permanent_if = std::io::Error::is_interrupted_like)]
async fn of_a_trait() -> std::io::Result<()> {
    Ok(())
}
trait Interrupted {
    fn is_interrupted_like(&self) -> bool;
}
impl Interrupted for std::io::Error {
    fn is_interrupted_like(&self) -> bool {
        self.kind() == std::io::ErrorKind::Interrupted
    }
}

#[test]
fn works() {
    drop((aliased::call(), by_method::call(), plain::call(), generic::call(), of_a_trait::call()));
}
