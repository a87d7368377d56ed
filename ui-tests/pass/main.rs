//! What the macros accept: every file here is a case, with a test of what it makes. See `../README.md`.
//!
//! One program for all, because linking one for each would take minutes. The lints that a case turns on bind it alone.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::unwrap_used, clippy::panic)]

mod argument_settings;
mod awaits;
mod calls;
mod cfg_on_arguments;
mod cfgs;
mod docs_and_attributes;
mod in_functions;
mod kinds_of_return;
mod macro_rules_tasks;
mod mut_arguments;
mod no_direct_dependencies;
mod options;
mod private_types;
mod raw_identifiers;
mod same_name_as_argument;
mod same_name_in_modules;
mod shadowed_names;
mod sixteen_arguments;
mod stacked_attributes;
mod state_and_context;
mod static_lifetimes;
mod wire_format;
