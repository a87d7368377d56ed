//! `$e:expr`, `$l:literal`, `$p:path`, `$i:ident` and `$t:tt` in every option.
#![deny(warnings)]
use dtq::prelude::*;

macro_rules! make {
    ($name:ident, $queue:expr, $attempts:expr, $kept:expr, $wait:path, $rule:path, $alias:literal, $priority:tt) => {
        #[dtq::task(
                    name = $alias, aliases = [$queue], queue = $queue, max_attempts = $attempts, dead_letter = $kept,
                    backoff = $wait, permanent_if = $rule, priority = $priority
                )]
        async fn $name() -> Result<(), TaskError> {
            Ok(())
        }
    };
}
fn wait(_: u32) -> std::time::Duration {
    std::time::Duration::ZERO
}
fn is_final(_: &TaskError) -> bool {
    false
}
make!(charge, "expressions", 7, false, wait, is_final, "expressions.charge", 2);

macro_rules! crate_path {
    ($name:ident, $krate:path) => {
        #[dtq::task(crate = $krate)]
        async fn $name(n: u8) -> u8 {
            n
        }
    };
}
crate_path!(by_path, ::dtq);

#[test]
fn works() {
    let def = charge::DEF;
    assert_eq!((def.name, def.aliases, def.queue), ("expressions.charge", &["expressions"][..], "expressions"));
    assert_eq!((def.max_attempts, def.dead_letter, def.priority), (7, false, 2));
    drop(by_path::call(1));
}
