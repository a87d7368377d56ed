struct Charger;

#[dtq::task]
async fn charge(a: Vec<_>, b: Self) -> Option<Self> {
    loop {}
}

fn main() {
    let _ = Charger;
}
