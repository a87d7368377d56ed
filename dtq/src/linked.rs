//! The tasks and subscribers that the linker gathers, from every crate of a program.
//!
//! By default each task registers itself when the program is loaded, before `main` (`inventory`). With the feature
//! `linkme` the linker lays them side by side in one slice, and nothing runs before `main`. Features add up over a program's
//! crates, so the two cannot exclude each other: where one crate asks for `linkme`, it holds for all of them.

use crate::registry::Registration;
use crate::subscriber::SubscriberRegistration;

#[cfg(not(feature = "linkme"))]
mod by_inventory {
    use super::{Registration, SubscriberRegistration};

    inventory::collect!(Registration);
    inventory::collect!(SubscriberRegistration);

    pub(crate) fn tasks() -> impl Iterator<Item = Registration> {
        inventory::iter::<Registration>().copied()
    }

    pub(crate) fn subscribers() -> impl Iterator<Item = SubscriberRegistration> {
        inventory::iter::<SubscriberRegistration>().copied()
    }

    /// Registers a subscriber.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! register_subscriber {
        ($(#[$attribute:meta])* $subscriber:ident) => {
            $(#[$attribute])*
            const _: () = {
                $crate::__private::inventory::submit!($crate::__private::SubscriberRegistration::of::<$subscriber>());
            };
        };
    }

    /// Registers a task.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! register_task {
        ($(#[$attribute:meta])* $task:ident) => {
            $(#[$attribute])*
            const _: () = {
                $crate::__private::inventory::submit!($crate::__private::Registration::of::<$task>());
            };
        };
    }
}

#[cfg(feature = "linkme")]
mod by_linkme {
    use super::{Registration, SubscriberRegistration};

    /// Every task of the program.
    #[linkme::distributed_slice]
    pub static TASKS: [Registration];

    /// Every subscriber of the program.
    #[linkme::distributed_slice]
    pub static SUBSCRIBERS: [SubscriberRegistration];

    pub(crate) fn tasks() -> impl Iterator<Item = Registration> {
        TASKS.iter().copied()
    }

    pub(crate) fn subscribers() -> impl Iterator<Item = SubscriberRegistration> {
        SUBSCRIBERS.iter().copied()
    }

    /// Registers a subscriber.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! register_subscriber {
        ($(#[$attribute:meta])* $subscriber:ident) => {
            $(#[$attribute])*
            const _: () = {
                #[$crate::__private::linkme::distributed_slice($crate::__private::SUBSCRIBERS)]
                #[linkme(crate = $crate::__private::linkme)]
                static SUBSCRIBER: $crate::__private::SubscriberRegistration =
                    $crate::__private::SubscriberRegistration::of::<$subscriber>();
            };
        };
    }

    /// Registers a task.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! register_task {
        ($(#[$attribute:meta])* $task:ident) => {
            $(#[$attribute])*
            const _: () = {
                #[$crate::__private::linkme::distributed_slice($crate::__private::TASKS)]
                #[linkme(crate = $crate::__private::linkme)]
                static TASK: $crate::__private::Registration = $crate::__private::Registration::of::<$task>();
            };
        };
    }
}

#[cfg(not(feature = "linkme"))]
pub(crate) use by_inventory::{subscribers, tasks};
#[cfg(feature = "linkme")]
pub use by_linkme::{SUBSCRIBERS, TASKS};
#[cfg(feature = "linkme")]
pub(crate) use by_linkme::{subscribers, tasks};
