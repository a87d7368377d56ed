//! The attribute macros of dtq.
