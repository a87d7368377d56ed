struct Db;

#[dtq::task]
async fn charge(#[state] db: Option<&Db>, #[state] all: Vec<&Db>) {
    let _ = (db, all);
}

fn main() {}
