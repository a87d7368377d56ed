//! What persistence and round trips cost: shares of the rates that one run of the program measured.

use crate::options::Persistence;
use crate::report::Line;

/// Adds to each line of one phase what share of its rate is left, against the same line without persistence and against
/// the same line without a round trip, where those were measured. `runs`: the lines of each run of the phase.
pub(crate) fn with_shares(runs: Vec<Vec<Line>>) -> Vec<Line> {
    let base: Vec<Vec<Line>> = runs.clone();
    let find = |place: usize, persistence: &'static str, round_trip_ms: f64| {
        let of_run = |line: &&Line| line.persistence == persistence && line.round_trip_ms == round_trip_ms;
        base.iter().filter_map(|run| run.get(place)).find(of_run).map(Line::per_second)
    };
    let compared = |(place, line): (usize, Line)| {
        if line.is_paced() {
            return line;
        }
        let none = Persistence::None.name();
        let of_none = find(place, none, line.round_trip_ms).filter(|_| line.persistence != none);
        let of_near = find(place, line.persistence, 0.0).filter(|_| line.round_trip_ms > 0.0);
        let share = |of: Option<f64>| of.map(|of| line.per_second() / of);
        let (none, near) = (share(of_none), share(of_near));
        line.with("share_of_rate_without_persistence", none).with("share_of_rate_without_round_trip", near)
    };
    runs.into_iter().flat_map(|run| run.into_iter().enumerate().map(compared).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::options::Args;
    use crate::options::tests::defaults;

    fn line(persistence: Persistence, round_trip: f64, seconds: u64) -> Line {
        let args = Args { persistence, round_trip, ..defaults() };
        Line::new("phase", &args, 100, Duration::from_secs(seconds))
    }

    #[test]
    fn a_line_is_compared_with_the_one_that_differs_in_nothing_else() {
        let (none, always) = (Persistence::None, Persistence::Always);
        let runs = [(none, 0.0, 1), (none, 1.0, 2), (always, 0.0, 4), (always, 1.0, 5)];
        let lines = with_shares(runs.into_iter().map(|(p, ms, s)| vec![line(p, ms, s)]).collect());
        let of = |name: &str| lines.iter().map(|line| line.figure(name)).collect::<Vec<_>>();
        assert_eq!(of("share_of_rate_without_persistence"), [None, None, Some(0.25), Some(0.4)]);
        assert_eq!(of("share_of_rate_without_round_trip"), [None, Some(0.5), None, Some(0.8)]);
    }

    #[test]
    fn a_line_with_a_rate_of_its_own_is_not_compared() {
        let paced = |persistence| vec![line(persistence, 0.0, 1).with_percentiles(&[1.0])];
        let lines = with_shares(vec![paced(Persistence::None), paced(Persistence::Always)]);
        assert!(lines.iter().all(|line| line.figure("share_of_rate_without_persistence").is_none()));
    }
}
