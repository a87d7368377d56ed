//! A module named `dtq`, items that hide the standard library's names, no prelude, raw identifiers, names of one letter.
#![no_implicit_prelude]
#![allow(dead_code, unused_macros)]

mod dtq {
    pub struct Call;
}
mod std {}
mod core {}
mod serde {}

struct Result;
struct Option;
struct String;
struct Box;
trait Send {}
trait Future {}
trait Iterator {}
trait IntoIterator {}
macro_rules! vec {
    () => {};
}
macro_rules! module_path {
    () => { compile_error!("hidden") };
}
macro_rules! line {
    () => { compile_error!("hidden") };
}

#[::dtq::task]
async fn r#type(r#fn: u8, r#match: ::std::string::String) -> ::core::result::Result<u8, ::dtq::TaskError> {
    let _ = r#match;
    ::core::result::Result::Ok(r#fn)
}

#[::dtq::task(name = "plain")]
fn x(ctx: &::dtq::Context, x: u8) -> u8 {
    let _ = ctx;
    x
}

mod r#async {
    #[::dtq::task]
    pub(in super::r#async) async fn r#loop(__ctx: u8, __args: u8, __it: u8, __to: u8, __from: u8, __calls: u8) -> u8 {
        __ctx + __args + __it + __to + __from + __calls
    }

    #[::dtq::test]
    async fn works(t: &::dtq::TestApp) {
        let _ = r#loop::enqueue(1, 2, 3, 4, 5, 6).await;
        let _ = t.drain().await;
    }
}

#[::dtq::test]
async fn works(t: &::dtq::TestApp) {
    let _ = r#type::enqueue(1, ::std::string::String::new()).await;
    let _ = t.drain().await;
}

fn main() {
    let call = r#type::call(1, ::std::string::String::new());
    ::core::assert_eq!(call.args().r#fn, 1);
    let _ = x::call(2).args().x;
}
