use std::sync::Arc;

struct Db;

#[dtq::task]
async fn charge(#[state] db: Db, #[state] shared: Arc<Db>) {
    let _ = (db, shared);
}

fn main() {}
