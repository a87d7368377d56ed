struct Db;

#[dtq::task]
async fn charge(#[state] db: &mut Db, #[state] forever: &'static Db) {
    let _ = (db, forever);
}

fn main() {}
