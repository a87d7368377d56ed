#[dtq::main(workers = 3)]
fn start<T>(app: dtq::App, more: u8) {
    let _ = (app, more);
}

fn main() {}
