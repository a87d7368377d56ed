#[dtq::main]
async fn main(app: &mut dtq::App) -> u8 {
    let _ = app;
    1
}
