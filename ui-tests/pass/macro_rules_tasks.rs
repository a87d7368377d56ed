//! Tasks stamped out by `macro_rules!`, with fragments of every kind.
#![deny(warnings)]
use dtq::prelude::*;

macro_rules! make {
    ($name:ident, $arg:ident, $ty:ty, $queue:expr, $attempts:literal, $timeout:tt, $backoff:expr, $vis:vis) => {
        #[dtq::task(queue = $queue, max_attempts = $attempts, timeout = $timeout, backoff = $backoff)]
        $vis async fn $name($arg: $ty) -> Result<$ty, TaskError> {
            Ok($arg)
        }
    };
}
make!(first, n, u32, "first", 3, "5s", fixed("2s"), pub);
make!(second, text, Vec<String>, ("second"), 4, "6s", linear(step = "1s"), pub(crate));
make!(third, text, String, "third", 4, "6s", wait, pub);

fn wait(_: u32) -> std::time::Duration {
    std::time::Duration::ZERO
}

macro_rules! whole {
    ($($name:ident)*) => { $(
        #[dtq::task(priority = 3)]
        fn $name(n: u8) -> u8 { n }
    )* };
}
whole!(fourth fifth);

macro_rules! with_reference {
    ($name:ident, $ctx:ty, $state:ty) => {
        #[dtq::task]
        async fn $name(ctx: $ctx, #[state] s: $state) {
            let _ = (ctx.attempt(), s);
        }
    };
}
with_reference!(sixth, &Context, &String);

macro_rules! item {
    ($item:item) => {
        #[dtq::task(queue = "items")]
        $item
    };
}
item!(
    async fn seventh(n: u8) -> u8 {
        n
    }
);

#[test]
fn works() {
    assert_eq!((first::DEF.queue, first::DEF.max_attempts), ("first", 3));
    assert_eq!((second::DEF.queue, seventh::DEF.queue), ("second", "items"));
    assert_eq!(sixth::STATE.len(), 1);
    drop((third::call("".into()), fourth::call(1), fifth::call(1), seventh::call(1)));
}
