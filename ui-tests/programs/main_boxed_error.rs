//! A boxed error, another name for the app, `mut`, an alias for its type.
#![deny(warnings)]
mod hidden {
    use dtq::App as Application;
    #[dtq::main(crate = "::dtq_ui_tests::dtq")]
    pub(crate) async fn main(mut set_up: &mut Application) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let first = &mut set_up;
        first.state(1u8);
        let boxed: Box<dyn Fn() + Send> = Box::new(|| {});
        std::future::ready(()).await;
        boxed();
        Err("no")?
    }
}

fn main() {
    let _ = hidden::main as fn() -> std::process::ExitCode;
}
