struct Program;

impl Program {
    #[dtq::main]
    async fn main(&self) {}
}

fn main() {}
