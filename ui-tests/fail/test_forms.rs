use dtq::TestApp;

#[dtq::test]
fn not_async(t: &TestApp) {
    let _ = t;
}

#[dtq::test]
async fn takes_nothing() {}

#[dtq::test]
async fn takes_it_by_value(t: TestApp) {
    let _ = t;
}

#[dtq::test]
async fn takes_it_mutably(t: &mut TestApp) {
    let _ = t;
}

#[dtq::test]
async fn takes_more(t: &TestApp, order: u64) {
    let _ = (t, order);
}

#[dtq::test]
async fn is_generic<T>(t: &TestApp) {
    let _ = t;
}

#[dtq::test]
async unsafe fn is_unsafe(t: &TestApp) {
    let _ = t;
}

#[dtq::test]
async fn has_no_body(t: &TestApp);

struct Suite;

impl Suite {
    #[dtq::test]
    async fn is_a_method(&self, t: &TestApp) {
        let _ = t;
    }
}

fn main() {}
