fn of_another(error: &std::fmt::Error) -> bool {
    *error == std::fmt::Error
}

fn no_answer(error: &std::io::Error) {
    let _ = error;
}

#[dtq::task(permanent_if = of_another)]
async fn a() -> Result<(), std::io::Error> {
    Ok(())
}

#[dtq::task(permanent_if = no_answer)]
fn b() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
