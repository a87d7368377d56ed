//! Neither serde nor inventory nor tokio is named; types bring their own derive.
mod app {
    #[dtq::task]
    pub async fn ping(text: String, list: Vec<(u8, Option<bool>)>) -> Result<String, std::num::ParseIntError> {
        let _ = list;
        text.parse::<u8>().map(|n| n.to_string())
    }
}
#[test]
fn works() {
    drop(app::ping::call(String::new(), vec![]));
}
