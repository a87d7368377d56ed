//! A stand-in for a facade crate that re-exports dtq, for the cases that name it by another path.

pub use dtq;

/// dtq by another name.
pub mod deep {
    pub use dtq as queue;
}
