use std::borrow::Cow;

#[dtq::task]
async fn charge(ctx: &'c dtq::Context, #[state] db: &'d String, note: Cow<'a, str>) -> Result<&'b str, std::fmt::Error> {
    let _ = (ctx, db, note);
    Ok("")
}

fn main() {}
