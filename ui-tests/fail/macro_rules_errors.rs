macro_rules! make {
    ($name:ident, $ty:ty, $queue:expr) => {
        #[dtq::task(queue = $queue)]
        async fn $name(x: $ty) {
            let _ = x;
        }
    };
}
make!(first, &str, "high");
make!(second, u8, "a b");
make!(third, u8, 3 + 4);

fn main() {}
