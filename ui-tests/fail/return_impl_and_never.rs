#[dtq::task]
async fn charge() -> impl Send {}

#[dtq::task]
fn refund() -> impl std::future::Future<Output = ()> {
    async {}
}

#[dtq::task]
async fn forever() -> ! {
    loop {}
}

fn main() {}
