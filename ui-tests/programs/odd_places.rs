//! Tasks in blocks, closures, constants, modules of one name, under conditions; async closures in bodies.
#![deny(warnings, unsafe_code)]
#![allow(clippy::let_unit_value)]

use dtq::prelude::*;

const LENGTH: usize = {
    #[dtq::task]
    async fn in_a_constant(a: [u8; 4]) -> u8 {
        a[0]
    }
    in_a_constant::DEF.name.len()
};

static NAME: &str = {
    mod inner {
        #[dtq::task(name = "in_a_static")]
        pub(super) fn task() {}
    }
    <inner::task as dtq::Task>::DEF.name
};

trait Speaks {
    fn name(&self) -> &'static str;
}

impl Speaks for u8 {
    fn name(&self) -> &'static str {
        #[dtq::task]
        #[cfg_attr(all(), allow(unused_variables))]
        async fn in_a_method(#[cfg(all())] some: u8, #[cfg(any())] none: Missing) {}
        let _ = in_a_method::call(1);
        in_a_method::DEF.name
    }
}

#[dtq::task]
async fn with_closures(list: Vec<u8>) -> Result<Vec<u8>, TaskError> {
    let double = async |n: u8| n * 2;
    let mut doubled = Vec::new();
    for n in list {
        doubled.push(double(n).await);
    }
    let sum = async move { doubled.iter().sum::<u8>() };
    Ok(vec![sum.await])
}

#[dtq::task]
async fn once_with_an_async_closure(ctx: &Context) -> Result<u8, TaskError> {
    let base = String::from("ab");
    Ok(ctx.once("key", std::time::Duration::from_secs(1), async || Ok::<_, TaskError>(base.len() as u8)).await?)
}

#[cfg(any())]
#[dtq::task(max_attempts = 0, nonsense = Missing)]
async fn not_there(this: Missing) -> Nowhere {}

#[dtq::task]
#[inline(never)]
#[must_use]
#[doc(alias = "other")]
#[doc(hidden)]
#[track_caller]
#[cold]
fn with_many_attributes(#[allow(unused_mut)] mut text: String) -> String {
    text
}

fn main() {
    assert_eq!((LENGTH, NAME, 7_u8.name()), (13, "in_a_static", "in_a_method"));
    let made = std::thread::spawn(|| {
        #[dtq::task]
        async fn in_a_closure(n: u8) -> u8 {
            n
        }
        in_a_closure::call(1).args().n
    });
    assert_eq!(made.join().unwrap(), 1);
    let _ = with_closures::call(vec![1]);
    let _ = with_many_attributes(String::new());
    let _ = with_many_attributes::enqueue(String::new());
    let _ = once_with_an_async_closure::call();
}
