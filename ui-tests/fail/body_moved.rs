#[dtq::task]
async fn charge(note: String) -> usize {
    drop(note);
    note.len()
}

fn main() {}
