//! The functions that stand beside a task: the same for all, but for the arguments.

/// Writes `call`, `enqueue` and `enqueue_many`. Names, parameters and documents come with the macro's input, token by token (a
/// `$x:ty` would hide their places): an editor or an error that asks for one is led to the user's task, not here.
#[doc(hidden)]
#[macro_export]
macro_rules! task_calls {
    (
        $(#[$attribute:meta])*
        ($($head:tt)*) ($($vis:tt)*) ($($params:tt)*) $fields:tt ($($items:tt)*) ($($pattern:tt)*)
        $call:tt = $about_call:literal,
        $enqueue:tt = $about_enqueue:literal,
        $many:tt = $about_many:literal,
    ) => {
        $(#[$attribute])*
        #[allow(private_interfaces, dead_code)]
        $($head)* {
            #[doc = $about_call]
            $($vis)* fn $call($($params)*) -> $crate::__private::Call<Self> {
                $crate::__private::Call::new(Self $fields)
            }
            #[doc = $about_enqueue]
            $($vis)* fn $enqueue($($params)*) -> $crate::__private::Call<Self> {
                $crate::__private::Call::new(Self $fields)
            }
            #[doc = $about_many]
            $($vis)* fn $many(__calls: $($items)*) -> $crate::__private::CallMany<Self> {
                $crate::__private::CallMany::new(__calls, |$($pattern)*| Self $fields)
            }
        }
    };
}
