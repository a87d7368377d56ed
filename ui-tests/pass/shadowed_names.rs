//! Modules, types, macros and values named like what generated code uses.
#![allow(dead_code, non_camel_case_types, unused_macros, non_upper_case_globals)]

mod std {}
mod core {}
mod serde {}
mod inventory {}
mod alloc {}
mod dtq_macros {}
struct Option;
struct Some;
struct Vec;
struct Box;
struct Task;
struct Call;
struct Future;
struct Duration;
trait Send {}
trait Sized {}
trait IntoIterator {}
trait Serialize {}
macro_rules! line {
    () => {
        compile_error!("")
    };
}
macro_rules! file {
    () => {
        compile_error!("")
    };
}
macro_rules! module_path {
    () => {
        compile_error!("")
    };
}
const call: u8 = 1;
const args: u8 = 1;
const ctx: u8 = 1;
struct calls;

#[::dtq::task(timeout = "1s", backoff = exponential, queue = "q")]
async fn task(context: &::dtq::Context, #[state] x: &u8, run: u8, state: u8, __args: u8, __call: u8) -> u8 {
    let _ = (context, x, state, __args, __call);
    run
}

mod dtq {}

#[test]
fn works() {
    drop(task::enqueue_many([(1, 2, 3, 4)]));
}
