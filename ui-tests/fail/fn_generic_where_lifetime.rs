#[dtq::task]
async fn charge<'a: 'static>(order: u64) {
    let _: (u64, std::marker::PhantomData<&'a ()>) = (order, std::marker::PhantomData);
}

#[dtq::task]
async fn refund(order: u64)
where
    u64: Send,
{
    let _ = order;
}

fn main() {
    drop(refund::call(1));
}
