macro_rules! make {
    ($item:item) => {
        #[dtq::task(priority = 12)]
        $item
    };
}
make!(async fn first(x: &u8) {});
make!(struct Second;);

fn main() {}
