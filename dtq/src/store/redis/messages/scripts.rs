//! The scripts for messages that dtq did not write.

use std::sync::LazyLock;

use super::super::scripts::Script;

/// Every script, ready to be called by its hash.
pub(super) static SCRIPTS: LazyLock<Scripts> = LazyLock::new(Scripts::build);

/// One script for each thing that must be one step.
pub(super) struct Scripts {
    pub(super) steps: Script,
    pub(super) due: Script,
    pub(super) claim: Script,
    pub(super) renew: Script,
    pub(super) tidy: Script,
    pub(super) take: Script,
    pub(super) silent: Script,
    pub(super) recover: Script,
}

impl Scripts {
    fn build() -> Self {
        let script = |text: &str| Script::new(text.to_owned());
        Self {
            steps: script(include_str!("lua/steps.lua")),
            due: script(include_str!("lua/due.lua")),
            claim: script(include_str!("lua/claim.lua")),
            renew: script(include_str!("lua/renew.lua")),
            tidy: script(include_str!("lua/tidy.lua")),
            take: script(include_str!("lua/take.lua")),
            silent: script(include_str!("lua/silent.lua")),
            recover: script(include_str!("lua/recover.lua")),
        }
    }
}
