#[dtq::task(nmae = "a", alaises = ["b"], qeue = "c", prority = 1, max_attempt = 1, time_out = "1s")]
async fn a() {}
#[dtq::task(back_off = fixed("1s"), permanentif = f, retenton = "1s", tl = "1s", deadletter = true, crat = x)]
async fn b() {}

fn main() {}
