#[dtq::task]
enum Kind {}

#[dtq::task]
impl Charge {}

#[dtq::task]
pub(crate) mod tasks {}

#[dtq::task]
const LIMIT: u8 = 1;

#[dtq::task]
trait Chargeable {}

struct Charge;

fn main() {}
