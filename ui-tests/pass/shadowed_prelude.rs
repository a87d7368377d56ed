//! The names of the prelude, and of modules of the standard library, belong to the user.
#![allow(dead_code, non_camel_case_types, unused_macros)]
mod std {}
mod core {}
mod alloc {}
type Result<T> = ::core::result::Result<T, ::dtq::TaskError>;
struct Ok;
struct Err;
struct Some;
struct None;
struct String;
struct Vec;
struct Box;
trait Default {}
trait Send {}
trait Sync {}
trait Fn {}
trait FnOnce {}
trait From {}
trait Into {}
trait Iterator {}
trait Drop {}
enum Option {
    None,
}
macro_rules! vec {
    () => {};
}
struct Self_;

#[::dtq::task(timeout = "1s", backoff = fixed("1s"), aliases = ["shadowed.old"], permanent_if = is_final)]
async fn charge(ctx: &::dtq::Context, #[arg(default)] order: u64, maybe: ::core::option::Option<u8>) -> Result<u64> {
    let _ = (ctx, maybe);
    Result::Ok(order)
}
#[::dtq::task]
fn plain(#[state] db: &u8) -> Result<()> {
    let _ = db;
    Result::Ok(())
}
fn is_final(_: &::dtq::TaskError) -> bool {
    true
}

#[test]
fn works() {
    drop((charge::call(1, ::core::option::Option::None), plain::call()));
}
