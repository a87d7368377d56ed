//! Lines for people and for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::options::Args;

/// One measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) phase: &'static str,
    store: &'static str,
    pub(crate) persistence: &'static str,
    pub(crate) round_trip_ms: f64,
    tasks: usize,
    seconds: f64,
    per_second: f64,
    pub(crate) lost: usize,
    pub(crate) duplicates: usize,
    /// What else was measured, by names that end in their units.
    #[serde(flatten)]
    figures: BTreeMap<&'static str, f64>,
}

impl Line {
    pub(crate) fn new(phase: &'static str, args: &Args, tasks: usize, time: Duration) -> Self {
        let seconds = time.as_secs_f64();
        Self {
            phase,
            store: args.store.name(),
            persistence: args.persistence.name(),
            round_trip_ms: args.round_trip,
            tasks,
            seconds,
            per_second: tasks as f64 / seconds,
            lost: 0,
            duplicates: 0,
            figures: BTreeMap::new(),
        }
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.per_second
    }

    /// A figure that was added.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    /// True when its rate was chosen and not measured.
    pub(crate) fn is_paced(&self) -> bool {
        self.tasks == 0 || self.figures.contains_key("p50_ms")
    }

    /// Adds a figure, where it was measured.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Option<f64>>) -> Self {
        // Three places tell all that repeats from run to run.
        self.figures.extend(value.into().map(|value| (name, (value * 1000.0).round() / 1000.0)));
        self
    }

    /// Adds what tells the tail of a distribution, in milliseconds; `sorted` in rising order.
    pub(crate) fn with_percentiles(self, sorted: &[f64]) -> Self {
        let at = |share| percentile(sorted, share);
        self.with("p50_ms", at(0.5)).with("p99_ms", at(0.99)).with("p999_ms", at(0.999)).with("max_ms", at(1.0))
    }

    /// Adds how it compares with the same of another size, where both were measured.
    pub(crate) fn compared_with(self, other: &Self) -> Self {
        let ratio = |name: &str| Some(self.figure(name)? / other.figure(name)?).filter(|ratio| ratio.is_finite());
        let (server, process) = (ratio("server_us_per_task"), ratio("process_us_per_task"));
        let rate = self.per_second / other.per_second;
        self.with("rate_over_small", rate).with("server_us_over_small", server).with("process_us_over_small", process)
    }

    pub(crate) fn reconciled(mut self, (lost, duplicates): (usize, usize)) -> Self {
        self.lost = lost;
        self.duplicates = duplicates;
        self
    }

    pub(crate) fn print_json(&self) {
        println!("{}", serde_json::to_string(self).unwrap_or_default());
    }
}

/// What the given share of the values does not exceed; `sorted` in rising order.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied()
}

pub(crate) fn print_table(lines: &[Line]) {
    println!(
        "{:<12} {:<7} {:<9} {:>7} {:>9} {:>9} {:>11} {:>5} {:>5}  measured",
        "phase", "store", "persist", "trip ms", "tasks", "seconds", "per second", "lost", "twice"
    );
    for line in lines {
        let figures: Vec<_> = line.figures.iter().map(|(name, value)| format!("{name}={value}")).collect();
        println!(
            "{:<12} {:<7} {:<9} {:>7} {:>9} {:>9.2} {:>11.0} {:>5} {:>5}  {}",
            line.phase,
            line.store,
            line.persistence,
            line.round_trip_ms,
            line.tasks,
            line.seconds,
            line.per_second,
            line.lost,
            line.duplicates,
            figures.join(" ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let at = |share| percentile(&values, share);
        assert_eq!([at(0.5), at(0.99), at(0.999), at(1.0)], [Some(500.0), Some(990.0), Some(999.0), Some(1000.0)]);
        assert_eq!(percentile(&[7.0], 0.5), Some(7.0));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
