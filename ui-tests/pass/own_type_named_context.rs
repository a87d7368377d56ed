//! A type of one's own that is named `Context` is payload when its path says that it is not dtq's.
#[derive(serde::Serialize, serde::Deserialize)]
struct Context {
    tenant: String,
}

#[dtq::task]
async fn charge(context: self::Context, all: Vec<Context>) -> usize {
    context.tenant.len() + all.len()
}

#[test]
fn works() {
    drop(charge::call(Context { tenant: String::new() }, vec![]));
}
