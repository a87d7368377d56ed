trait Mailer {}

#[dtq::task]
async fn charge(#[state] mailer: &dyn Mailer, #[state] names: &[String], #[state] name: &str, #[state] any: &impl Send) {
    let _ = (mailer, names, name, any);
}

fn main() {}
