#[dtq::task(max_attempts = 0, queu = "x", timeout = "5 parsecs")]
async fn charge<T>(note: &str, (a, b): (u8, u8), #[state] db: Db) -> impl Send {
    let _ = (note, a, b, db);
}

struct Db;

fn main() {
    drop(charge::enqueue("", (1, 2)));
}
