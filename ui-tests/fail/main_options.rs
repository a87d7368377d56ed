mod a {
    #[dtq::main(crat = "::dtq")]
    async fn main() {}
}
mod b {
    #[dtq::main(crate)]
    async fn main() {}
}
mod c {
    #[dtq::main("::dtq")]
    async fn main() {}
}
mod d {
    #[dtq::main(crate = "::dtq", crate = "::dtq")]
    async fn main() {}
}

fn main() {}
