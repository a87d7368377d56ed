//! Code that is generic over tasks, in functions, structs and traits.
#![deny(warnings)]
use dtq::prelude::*;

struct Queue<T: Task>(Vec<Call<T>>);
impl<T: Task> Queue<T> {
    fn name(&self) -> &'static str {
        T::DEF.name
    }
}
trait Describe {
    fn describe() -> String;
}
impl<T: Task> Describe for T {
    fn describe() -> String {
        format!("{} in {} with {:?}", T::DEF.name, T::DEF.queue, T::DEF.arguments)
    }
}
fn register<T: Task>(app: &mut App) {
    app.register::<T>();
}

#[dtq::task(queue = "high")]
async fn generic_call(order: u64) {
    let _ = order;
}

#[test]
fn works() {
    let queue = Queue(vec![generic_call::call(1)]);
    assert_eq!((queue.name(), queue.0.len()), ("generic_call", 1));
    assert_eq!(generic_call::describe(), r#"generic_call in high with ["order"]"#);
    register::<generic_call>(&mut App::new());
}
