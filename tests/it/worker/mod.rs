//! Workers within the test's process, on a store of each kind: from an enqueued call to its end.

mod bench;
mod breakage;
mod budget;
mod cancel;
mod connections;
mod duplicates;
mod idle;
mod keys;
mod lease;
mod life;
mod notes;
mod once;
mod order;
mod panics;
mod permanent;
mod queues;
mod refuse;
mod retry;
mod run;
mod schedules;
mod stop;
mod timeout;
mod waiting;

pub(crate) use bench::{Bench, PATIENCE, Probe, RealTime, failures};

/// Ends a file of checks: each becomes a test for each store, `<file>::sqlite::<check>` and `<file>::redis::<check>`.
macro_rules! on_both_stores {
    ($($check:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                super::$check(&dtq_tests::World::sqlite().await).await;
            })+
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                super::$check(&dtq_tests::World::redis().await).await;
            })+
        }
    };
}
pub(crate) use on_both_stores;
