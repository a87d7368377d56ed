type Answer = Result<(), &'static str>;

#[dtq::task]
async fn a() -> Result<(), ()> {
    Ok(())
}

#[dtq::task]
async fn b() -> Answer {
    Err("no")
}

#[dtq::task(permanent_if = is_final)]
async fn c() -> Result<(), u8> {
    Err(1)
}

fn is_final(code: &u8) -> bool {
    *code > 3
}

fn main() {}
