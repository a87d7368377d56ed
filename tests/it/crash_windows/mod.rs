//! The guarantee's table, row by row: a worker process is frozen at exactly that point, looked at, killed with signal 9,
//! and another one goes on. Where a step is atomic and has no inside, a test shows that.

mod claim;
mod enqueue;
mod handler;
mod log_cut;
mod lost_replies;
mod observer;
mod observer_of_rows;
mod scene;
mod settle;

macro_rules! rows {
    (
        both { $($file:ident: $($row:ident),+;)+ }
        sqlite { $($sqlite_file:ident: $($sqlite_row:ident),+;)+ }
        redis { $($redis_file:ident: $($redis_row:ident),+;)+ }
        servers_of_their_own { $($own_file:ident: $($own_row:ident),+;)+ }
    ) => {
        mod sqlite {
            $($(rows!(sqlite $file $row);)+)+
            $($(rows!(sqlite $sqlite_file $sqlite_row);)+)+
        }
        mod redis {
            $($(rows!(redis $file $row);)+)+
            $($(rows!(redis $redis_file $redis_row);)+)+
            $($(#[tokio::test]
            async fn $own_row() {
                super::$own_file::$own_row().await;
            })+)+
        }
    };
    ($store:ident $file:ident $row:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $row() {
            super::$file::$row(&dtq_tests::World::$store().await).await;
        }
    };
}

rows! {
    both {
        enqueue:
            before_the_enqueue_is_sent,
            enqueued_but_the_producer_never_heard;
        claim:
            before_the_entry_is_read,
            claimed_but_the_worker_never_heard,
            expired_but_the_worker_never_heard,
            taken_over_but_the_worker_never_heard,
            dead_lettered_as_lost_but_the_worker_never_heard;
        handler:
            during_the_handler,
            after_the_handler_before_the_settle,
            after_a_failed_handler_before_the_settle;
        settle:
            succeeded_but_the_worker_never_heard,
            retrying_but_the_worker_never_heard,
            snoozed_but_the_worker_never_heard,
            dead_lettered_but_the_worker_never_heard,
            failed_without_dead_letters_but_the_worker_never_heard,
            dropped_by_the_handler_but_the_worker_never_heard,
            cancelled_on_request_but_the_worker_never_heard,
            given_back_at_shutdown_but_the_worker_never_heard,
            after_the_acknowledgement;
    }
    sqlite {
        enqueue: within_the_enqueue_before_the_commit;
        claim: within_the_claim_before_the_commit;
        settle:
            within_the_settle_of_a_success_before_the_commit,
            within_the_settle_of_a_retry_before_the_commit,
            within_the_settle_of_a_dead_letter_before_the_commit;
        observer_of_rows: within_enqueue_claim_and_settle_nothing_can_be_seen;
    }
    redis {
        observer: within_enqueue_claim_and_settle_nothing_can_be_seen;
        lost_replies:
            the_reply_to_an_enqueue_is_lost_and_the_producer_lives_on,
            the_reply_to_a_claim_is_lost_and_the_worker_lives_on,
            the_reply_to_a_settle_is_lost_and_the_worker_lives_on;
    }
    servers_of_their_own {
        log_cut:
            within_the_settle_of_a_success_a_cut_log_holds_all_or_nothing,
            within_the_settle_of_a_retry_a_cut_log_holds_all_or_nothing,
            within_the_settle_of_a_dead_letter_a_cut_log_holds_all_or_nothing;
    }
}
