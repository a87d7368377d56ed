//! What a schedule says, as text in a store: JSON, without the payload.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::types::{Missed, Overlap, Policy, Priority, ScheduleId, ScheduleSpec, Timing, check_task_name};

/// Fields that are left out have their usual values; unknown ones are of a newer version.
#[derive(Serialize, Deserialize)]
struct Text {
    task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_ms: Option<u64>,
    missed: Cow<'static, str>,
    overlap: Cow<'static, str>,
    priority: u8,
    max_attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    retention_ms: u64,
    dead_letter: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
}

/// The text of a specification. Equal ones have equal texts.
pub(super) fn write(spec: &ScheduleSpec) -> String {
    let (cron, zone, every_ms) = match &spec.timing {
        Timing::Cron { expression, zone } => (Some(expression.clone()), Some(zone.clone()), None),
        Timing::Every(interval) => (None, None, Some(millis(*interval))),
    };
    let policy = &spec.policy;
    let text = Text {
        task: spec.task.clone(),
        cron,
        zone,
        every_ms,
        missed: spec.missed.as_str().into(),
        overlap: spec.overlap.as_str().into(),
        priority: spec.priority.level(),
        max_attempts: policy.max_attempts,
        timeout_ms: policy.timeout.map(millis),
        retention_ms: millis(policy.retention),
        dead_letter: policy.dead_letter,
        ttl_ms: policy.ttl.map(millis),
    };
    // Strings and numbers in a map of strings: nothing in it can fail to be written.
    serde_json::to_string(&text).unwrap_or_default()
}

/// Reads it back; `None` when it is of no form that this version knows.
pub(super) fn read(id: ScheduleId, text: &str, payload: Bytes) -> Option<ScheduleSpec> {
    let text: Text = serde_json::from_str(text).ok()?;
    let timing = match (text.cron, text.every_ms) {
        (Some(expression), None) => {
            Timing::Cron { expression, zone: text.zone.unwrap_or_else(|| Timing::UTC.to_owned()) }
        }
        (None, Some(millis)) => Timing::Every(Duration::from_millis(millis)),
        _ => return None,
    };
    // What is shown to people holds nothing but what a name may hold, whoever wrote it.
    check_task_name(&text.task).ok()?;
    Some(ScheduleSpec {
        id,
        timing,
        missed: Missed::ALL.into_iter().find(|one| one.as_str() == text.missed)?,
        overlap: Overlap::ALL.into_iter().find(|one| one.as_str() == text.overlap)?,
        task: text.task,
        payload,
        priority: Priority::new(text.priority).ok()?,
        policy: Policy {
            max_attempts: text.max_attempts,
            timeout: text.timeout_ms.map(Duration::from_millis),
            retention: Duration::from_millis(text.retention_ms),
            dead_letter: text.dead_letter,
            ttl: text.ttl_ms.map(Duration::from_millis),
        },
    })
}

/// Rounded up, so that a short time does not become none.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(timing: Timing) -> ScheduleSpec {
        ScheduleSpec {
            id: "high:a".parse().unwrap(),
            timing,
            missed: Missed::All,
            overlap: Overlap::Skip,
            task: "report".into(),
            payload: Bytes::from_static(b"{}"),
            priority: Priority::HIGHEST,
            policy: Policy { ttl: Some(Duration::from_millis(5)), ..Policy::DEFAULT },
        }
    }

    #[test]
    fn a_specification_survives() {
        let cron = Timing::Cron { expression: "*/5 * * * *".into(), zone: "Europe/Berlin".into() };
        for timing in [cron, Timing::Every(Duration::from_millis(1500))] {
            let spec = spec(timing);
            let text = write(&spec);
            assert!(!text.contains('\n'));
            assert_eq!(read(spec.id.clone(), &text, spec.payload.clone()), Some(spec));
        }
    }

    #[test]
    fn what_is_not_understood_is_none() {
        let id: ScheduleId = "a".parse().unwrap();
        let good = write(&spec(Timing::Every(Duration::from_secs(1))));
        for bad in [
            "",
            "{}",
            &good.replace("skip", "maybe"),
            &good.replace("every_ms", "each_ms"),
            &good.replace("report", "\\u001b[2J"),
        ] {
            assert_eq!(read(id.clone(), bad, Bytes::new()), None, "{bad}");
        }
        let newer = good.replace("{\"task\"", "{\"colour\":1,\"task\"");
        assert!(read(id, &newer, Bytes::new()).is_some());
    }
}
