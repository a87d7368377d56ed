use std::rc::Rc;
use std::cell::RefCell;

struct Db {
    open: Rc<u8>,
}

#[dtq::task]
async fn charge(#[state] db: &Db, #[state] seen: &RefCell<u8>) {
    let _ = (&db.open, seen);
}

fn main() {}
