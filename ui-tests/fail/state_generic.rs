struct Pool<T>(T);

#[dtq::task]
async fn charge<T>(#[state] pool: &Pool<T>) {
    let _ = pool;
}

#[dtq::task]
async fn refund(#[state] pool: &Pool<_>, #[state] other: &impl Sized) {
    let _ = (pool, other);
}

fn main() {}
