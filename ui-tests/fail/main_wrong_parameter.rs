#[dtq::main]
async fn main(app: &mut u8) {
    let _ = app;
}
