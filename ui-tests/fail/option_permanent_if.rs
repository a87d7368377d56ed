#[dtq::task(permanent_if = |error| true)]
async fn a() -> Result<(), std::io::Error> {
    Ok(())
}
#[dtq::task(permanent_if)]
async fn b() -> Result<(), std::io::Error> {
    Ok(())
}
#[dtq::task(permanent_if = is_final(3))]
async fn c() -> Result<(), std::io::Error> {
    Ok(())
}
#[dtq::task(permanent_if = true)]
async fn d() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
