mod a {
    #[dtq::main]
    async fn main() -> Result<(), String> {
        Ok(())
    }
}
mod b {
    #[dtq::main]
    async fn main() -> Result<u8, std::io::Error> {
        Ok(1)
    }
}

fn main() {}
