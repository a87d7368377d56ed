#[dtq::task(every = "1h", missed = "never")]
async fn missed() {}
#[dtq::task(every = "1h", missed = "onse")]
async fn typo() {}
#[dtq::task(every = "1h", missed = true)]
async fn no_word() {}
#[dtq::task(every = "1h", overlap = "queue")]
async fn overlap() {}
#[dtq::task(missed = "skip")]
async fn missed_alone() {}
#[dtq::task(overlap = "skip", queue = "high")]
async fn overlap_alone() {}

fn main() {}
