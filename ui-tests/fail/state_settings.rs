struct Db;

#[dtq::task]
async fn charge(#[state(db)] a: &Db, #[state] #[arg(default)] b: &Db, #[state] #[state] c: &Db) {
    let _ = (a, b, c);
}

fn main() {}
