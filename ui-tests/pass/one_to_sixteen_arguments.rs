//! Any number of arguments, up to the sixteen that the documentation promises.
#![deny(warnings)]
use dtq::prelude::*;

macro_rules! takes {
    ($($name:ident: $($arg:ident)*;)*) => { $(
        #[dtq::task]
        #[allow(clippy::too_many_arguments)]
        async fn $name($($arg: u8),*) -> u32 { 0 $(+ u32::from($arg))* }
    )* };
}
takes! {
    one: a;
    two: a b;
    three: a b c;
    twelve: a b c d e f g h i j k l;
    thirteen: a b c d e f g h i j k l m;
    sixteen: a b c d e f g h i j k l m n o p;
}

#[test]
fn works() {
    let counts = [one::DEF, two::DEF, three::DEF, twelve::DEF, thirteen::DEF, sixteen::DEF];
    assert_eq!(counts.map(|def| def.arguments.len()), [1, 2, 3, 12, 13, 16]);
    drop(one::enqueue_many([1]));
    drop(sixteen::enqueue_many([(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)]));
    drop(sixteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
}
