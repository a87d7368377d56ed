#[dtq::task]
async fn charge<T>(order: T)
where
    T: Send,
{
    let _ = order;
}

fn main() {}
