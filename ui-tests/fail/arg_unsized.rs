trait Mailer {}

#[dtq::task]
async fn charge(note: str, bytes: [u8], mailer: dyn Mailer) {
    let _ = (note, bytes, mailer);
}

fn main() {}
