macro_rules! make {
    ($name:ident, $ty:ty, $out:ty) => {
        #[dtq::task]
        async fn $name(x: $ty) -> $out {
            let _ = x;
            todo!()
        }
    };
}
make!(first, std::time::Instant, u8);
make!(second, u8, std::time::Instant);
make!(third, u8, Result<u8, String>);

fn main() {}
