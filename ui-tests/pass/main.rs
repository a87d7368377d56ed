//! What the macros accept: every file here is a case, with a test of what it makes. See `../README.md`.
//!
//! One program for all, because linking one for each would take minutes. The lints that a case turns on bind it alone.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::unwrap_used, clippy::panic)]

mod arg_alias;
mod arg_default;
mod argument_settings;
mod arguments_named_like_generated_code;
mod attributes_in_any_order;
mod awaits;
mod bodies;
mod borrows_across_awaits;
mod calls;
mod calls_as_values;
mod cfg_on_arguments;
mod cfg_on_state_and_docs;
mod cfgs;
mod conditional_tasks;
mod const_generics_and_tuples;
mod context_everywhere;
mod docs_and_attributes;
mod documented;
mod enqueue_many_items;
mod errors_of_many_kinds;
mod facade_paths;
mod generic_callers;
mod in_functions;
mod in_methods_and_blocks;
mod instrumented;
mod kinds_of_return;
mod lints_of_the_user;
mod macro_rules_expressions;
mod macro_rules_signatures;
mod macro_rules_tasks;
mod mut_arguments;
mod no_arguments;
mod no_direct_dependencies;
mod one_to_sixteen_arguments;
mod option_aliases;
mod option_backoff_functions;
mod option_concurrency;
mod option_dead_letter;
mod option_durations;
mod option_keys;
mod option_max_attempts;
mod option_name;
mod option_permanent_if;
mod option_queue_and_priority;
mod option_schedule;
mod option_syntax;
mod options;
mod ordinary_function;
mod own_argument_types;
mod own_outcome;
mod own_type_named_context;
mod payload_from_elsewhere;
mod pedantic;
mod plain_functions;
mod private_types;
mod raw_identifiers;
mod re_exports;
mod results_of_many_kinds;
mod same_name_as_argument;
mod same_name_in_modules;
mod shadowed_names;
mod shadowed_prelude;
mod shadowed_traits_of_serde;
mod sixteen_arguments;
mod stacked_attributes;
mod state_and_context;
mod state_kinds;
mod static_lifetimes;
mod subscriber_forms;
mod subscriber_options;
mod subscriber_parameters;
mod task_names;
mod test_attribute;
mod type_macros_and_qualified_paths;
mod visibility_of_fields;
mod wire_format;

/// The arguments as they are stored.
fn written<T: dtq::Task>(arguments: &T) -> Result<String, String> {
    arguments.to_payload().map(|payload| String::from_utf8(payload.into()).unwrap())
}

/// The arguments out of what is stored.
fn read<T: dtq::Task>(json: &str) -> Result<T, String> {
    T::from_payload(json.as_bytes())
}
