//! Tasks out of macros by example, nested, with attributes, options and types from outside.
#![deny(warnings)]

use dtq::prelude::*;

macro_rules! tasks {
    ($($(#[$attr:meta])* $vis:vis $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty = $body:expr;)*) => {$(
        #[dtq::task]
        $(#[$attr])*
        $vis async fn $name($($arg: $ty),*) -> $out {
            $body
        }
    )*};
}

tasks! {
    /// Documented.
    #[allow(clippy::unused_async)]
    pub add(a: u8, b: u8) -> u8 = a + b;
    nothing() -> () = ();
    #[deprecated(note = "use `add`")]
    pub(crate) old(list: Vec<(u8, Option<String>)>,) -> usize = list.len();
}

macro_rules! outer {
    ($name:ident, $queue:literal, $attempts:expr, $value:tt) => {
        macro_rules! inner {
            ($ty:ident) => {
                #[dtq::task(queue = $queue, max_attempts = $attempts, aliases = [$value])]
                fn $name(#[arg(default)] value: $ty, #[arg(alias = "v")] other: $ty) -> $ty {
                    let sum = value + other;
                    sum
                }
            };
        }
        inner!(u16);
    };
}
outer!(nested, "high", 7, "older");

macro_rules! hygienic {
    ($arg:ident) => {
        #[dtq::task]
        async fn two_of_one_name($arg: u8, arg: u8) -> u8 {
            $arg - arg
        }
    };
}
hygienic!(argument);

fn main() {
    assert_eq!(add::call(1, 2).args().b, 2);
    let _ = nothing::call();
    #[allow(deprecated)]
    let _ = old::call(vec![(1, None)]);
    assert_eq!((nested::DEF.max_attempts, nested::DEF.aliases), (7, &["older"][..]));
    assert_eq!(two_of_one_name::call(3, 1).args().argument, 3);
}
