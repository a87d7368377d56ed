struct Point {
    x: u8,
}

#[dtq::task]
async fn charge((a, b): (u32, u32), Point { x }: Point, [c, ..]: [u8; 3], n @ 1..: u32, _: u8, ref s: String) {
    let _ = (a, b, x, c, n, s);
}

fn main() {}
