//! dtq by the paths of a facade, in paths and strings, on functions of both kinds with every option that names dtq.
#![deny(warnings)]
use dtq_ui_tests::deep::queue as facade;

#[facade::task(crate = dtq_ui_tests::deep::queue, aliases = ["facade.old"], backoff = linear(step = "1s"))]
async fn by_path(ctx: &facade::Context, #[state] db: &u8, #[arg(default)] n: u8) -> Result<u8, facade::TaskError> {
    let _ = (ctx, db);
    Ok(n)
}
#[dtq_ui_tests::dtq::task(crate = "dtq_ui_tests::dtq", permanent_if = always)]
fn by_string(n: u8) -> Result<u8, facade::TaskError> {
    Ok(n)
}
fn always(_: &facade::TaskError) -> bool {
    true
}

#[test]
fn works() {
    drop((by_path::call(1), by_string::call(2)));
}
