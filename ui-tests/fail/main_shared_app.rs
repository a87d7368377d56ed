mod a {
    #[dtq::main]
    async fn main(app: &dtq::App) {
        let _ = app;
    }
}
mod b {
    #[dtq::main]
    async fn main(ctx: &dtq::Context) {
        let _ = ctx;
    }
}

fn main() {}
