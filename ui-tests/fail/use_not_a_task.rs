fn plain() {}

struct Order;

fn main() {
    let mut app = dtq::App::new();
    app.register::<Order>();
    plain();
}
