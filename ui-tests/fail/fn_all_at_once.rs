#[dtq::task]
pub const unsafe extern "C" fn charge<'a, T, const N: usize>(self, order: T)
where
    T: Send,
{
    let _ = order;
}

fn main() {}
