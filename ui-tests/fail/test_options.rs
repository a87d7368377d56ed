use dtq::TestApp;

#[dtq::test(flavour = "multi_thread")]
async fn misspelt(t: &TestApp) {
    let _ = t;
}

#[dtq::test(flavor = "multi_threads")]
async fn of_a_flavor_that_is_not(t: &TestApp) {
    let _ = t;
}

#[dtq::test(flavor, crate = 7, start_paused = true)]
async fn several(t: &TestApp) {
    let _ = t;
}

#[dtq::test(worker_threads = 4, store = "sqlite:test.db", state = 7)]
async fn from_elsewhere(t: &TestApp) {
    let _ = t;
}

#[dtq::test(crate = "::dtq", crate = "::dtq")]
async fn twice(t: &TestApp) {
    let _ = t;
}

#[dtq::test("multi_thread")]
async fn no_key(t: &TestApp) {
    let _ = t;
}

fn main() {}
