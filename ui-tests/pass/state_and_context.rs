//! Context and state in any place, by any path; the function stays an ordinary one.
use dtq::prelude::*;
use std::sync::Arc;

struct Db;
trait Mailer: Send + Sync {}

#[dtq::task]
async fn both(ctx: &Context, #[state] db: &Db, order: u64) -> Result<u64, TaskError> {
    let _ = (ctx.attempt(), db);
    Ok(order)
}
#[dtq::task]
async fn any_order(first: u8, #[state] db: &Db, second: String, context: &dtq::Context, #[state] _again: &Db) {
    let _ = (first, db, second, context.task_id());
}
#[dtq::task]
async fn shared(#[state] mailer: &Arc<dyn Mailer>, #[state] names: &Vec<String>) {
    let _ = (mailer, names);
}
#[dtq::task]
fn plain(ctx: &Context, #[state] db: &Db, n: u8) -> u8 {
    let _ = (ctx.max_attempts(), db);
    n
}

mod own {
    //! A type of one's own that is named Context is state when it is marked.
    pub struct Context;
    #[dtq::task]
    async fn marked(#[state] ctx: &Context, dtq_ctx: &dtq::Context) {
        let _ = (ctx, dtq_ctx.attempt());
    }
}

#[test]
fn works() {
    fn state<T: Task>() -> usize {
        T::STATE.len()
    }
    assert_eq!((state::<both>(), state::<any_order>(), state::<shared>()), (1, 2, 2));
    drop(both(&Context::detached(), &Db, 1));
    assert_eq!(plain(&Context::detached(), &Db, 7), 7);
}
