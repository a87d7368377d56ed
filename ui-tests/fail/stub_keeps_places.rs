use dtq::prelude::*;

struct Receipt;

#[dtq::task]
async fn not_send_beside_a_pattern(list: std::rc::Rc<u8>, (a, b): (u8, u8)) {
    let _ = (list, a, b);
}

#[dtq::task]
async fn bare_result_beside_a_pattern((a, b): (u8, u8)) -> Receipt {
    let _ = (a, b);
    Receipt
}

fn main() {
    let _ = not_send_beside_a_pattern::call(std::rc::Rc::new(1), (1, 2));
    let _ = bare_result_beside_a_pattern::enqueue((1, 2));
}
