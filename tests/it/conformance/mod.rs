//! What every store must hold to, one file per topic.

/// Ends a topic's file: names its checks, and makes a test of each for each store (see [`every_topic`]).
///
/// It defines a macro of the topic's name, since the tests are to live under `sqlite::` and `redis::`. A check that is
/// left out of the list is reported by the compiler as dead code.
macro_rules! checks {
    ($topic:ident: $($check:ident),+ $(,)?) => {
        macro_rules! $topic {
            (sqlite) => {
                mod $topic {
                    $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $check() {
                        crate::conformance::$topic::$check(&dtq_tests::World::sqlite().await).await;
                    })+
                }
            };
            (redis) => {
                mod $topic {
                    $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $check() {
                        crate::conformance::$topic::$check(&dtq_tests::World::redis().await).await;
                    })+
                }
            };
        }
        pub(crate) use $topic;
    };
}

macro_rules! topics {
    ($($topic:ident)+) => {
        $(pub(crate) mod $topic;)+

        /// The tests of all topics for one store.
        macro_rules! every_topic {
            (sqlite) => { $(crate::conformance::$topic::$topic!(sqlite);)+ };
            (redis) => { $(crate::conformance::$topic::$topic!(redis);)+ };
        }
        pub(crate) use every_topic;
    };
}

topics! {
    enqueue order delay claim lease silence once unheard renew settle retry snooze release dead_letter cancel expire
    events stats inspect workers wait audit idempotency unique unique_conflicts keys_of_many stops cancel_races report
    schedules ticks declarations idempotence concurrency payload bounds state crash extremes requeue lives discard
    by_hand dead_letter_list listing cancel_many describe pause depth purge queue_limit task_limit limits passed_over
    meetings rows rows_again rows_in_parts rows_held_back
}
