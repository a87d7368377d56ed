mod a {
    #[dtq::main]
    fn main() {}
}
mod b {
    #[dtq::main]
    async fn start(app: &mut dtq::App) {
        let _ = app;
    }
}
mod c {
    #[dtq::main]
    async fn main(app: &mut dtq::App, more: u8) {
        let _ = (app, more);
    }
}
mod d {
    #[dtq::main]
    async fn main(app: dtq::App) {
        let _ = app;
    }
}
mod e {
    #[dtq::main]
    async fn main<T>() {}
}
mod f {
    #[dtq::main(flavor = "multi_thread", crate = 3)]
    async fn main() {}
}
mod g {
    #[dtq::main]
    struct Main;
}

fn main() {}
