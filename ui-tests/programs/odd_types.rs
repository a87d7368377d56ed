//! Types that are written oddly: aliases, associated types, parentheses, macros, paths through `self`, `super` and `crate`.
#![deny(warnings)]
#![warn(clippy::pedantic, clippy::nursery)]

use dtq::prelude::*;
use std::collections::BTreeMap;

type Outcomes = Result<BTreeMap<String, Vec<Option<(u8, [i32; 2])>>>, TaskError>;
type Lent<'a> = &'a Context;

macro_rules! number {
    () => {
        u8
    };
}

mod kinds {
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    pub enum Kind<T = u8, const N: usize = 1> {
        One(T),
        Many { all: Vec<T>, unit: () },
    }
    pub mod deep {
        #[dtq::task]
        pub async fn charge(a: super::Kind, b: self::super::Kind<String, 3>, c: crate::kinds::Kind<()>) -> u8 {
            let _ = (a, b, c);
            1
        }
    }
}

trait Has {
    type It;
}
impl Has for u8 {
    type It = String;
}

#[dtq::task]
async fn oddly(
    a: <u8 as Has>::It,
    b: number!(),
    c: [(number!(), bool); 1 + 1],
    e: core::num::NonZeroU8,
    f: Box<str>,
    g: std::borrow::Cow<'static, str>,
) -> Outcomes {
    let _ = (a, b, c, e, f, g);
    Ok(BTreeMap::new())
}

mod more {
    pub use super::kinds::deep::charge as other;
}

fn main() {
    use kinds::Kind::One;
    let _: Option<Lent<'_>> = None;
    let call: dtq::Call<more::other> = more::other::call(One(1), One(String::new()), One(()));
    assert_eq!(call.args().a, One(1));
    let _ = oddly::DEF;
}
