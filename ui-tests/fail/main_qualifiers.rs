mod a {
    #[dtq::main]
    pub async unsafe fn main() {}
}
mod b {
    #[dtq::main]
    async fn main();
}
mod c {
    #[dtq::main]
    async fn main<'a>(app: &'a mut dtq::App)
    where
        u8: Send,
    {
        let _ = app;
    }
}

fn main() {}
