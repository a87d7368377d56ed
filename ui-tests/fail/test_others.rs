use dtq::TestApp;

#[dtq::test]
#[test]
async fn a_test_already(t: &TestApp) {
    let _ = t;
}

#[dtq::test]
#[tokio::test(flavor = "multi_thread")]
async fn a_test_of_tokio(t: &TestApp) {
    let _ = t;
}

#[dtq::test]
struct Suite;

#[dtq::test(flavor = 7)]
fn all_at_once(t: TestApp, more: u8) {
    let _ = t;
    let _: u8 = "the body is still checked";
}

fn main() {}
