use super::cron::Cron;
use super::*;

/// An instant from text such as `2026-03-08T07:00Z`.
fn at(text: &str) -> Timestamp {
    let full = text.replace('Z', ":00Z");
    humantime::parse_rfc3339(&full).unwrap().into()
}

fn timetable(expression: &str, zone: &str) -> Timetable {
    Timetable::cron(expression, zone).unwrap()
}

/// The ticks after one instant and up to another one.
fn ticks(timetable: &Timetable, after: &str, until: &str) -> Vec<String> {
    let ticks = std::iter::successors(timetable.next_after(at(after)), |tick| timetable.next_after(*tick));
    ticks.take_while(|tick| *tick <= at(until)).map(|tick| tick.to_string().replace(":00.000Z", "Z")).collect()
}

#[test]
fn junk_is_refused_in_words() {
    for (junk, part) in [
        ("", "0 fields"),
        ("* * * *", "4 fields"),
        ("0 0 1 1 * 2027", "6 fields"),
        ("0 0 30 2 *", "never"),
        ("0 0 31 4 *", "never"),
        ("0 0 31 2,4,6 *", "never"),
        ("*/0 * * * *", "1 to 59"),
        ("1/0 * * * *", "step"),
        ("5/10 * * * *", "\"5-59/10\""),
        ("*/60 * * * *", "1 to 59"),
        ("60 * * * *", "0 to 59"),
        ("* 24 * * *", "0 to 23"),
        ("* * 0 * *", "1 to 31"),
        ("* * * 13 *", "1 to 12"),
        ("* * * * 8", "0 to 7"),
        ("5-1 * * * *", "ends before"),
        ("* * * * FRI-MON", "ends before"),
        ("-1 * * * *", "not a minute"),
        ("+1 * * * *", "not a minute"),
        ("1, * * * *", "not a minute"),
        ("1-2-3 * * * *", "not a minute"),
        ("* * L * *", "day of the month"),
        ("* * ? * *", "day of the month"),
        ("* * * FOO *", "JAN or FEB"),
        ("@reboot", "@hourly"),
        ("99999999999 * * * *", "not a minute"),
    ] {
        let problem = Cron::parse(junk).unwrap_err();
        let part = if part == "JAN or FEB" { "FEB" } else { part };
        assert!(problem.contains(part), "{junk:?}: {problem}");
    }
    let long = format!("{}1 * * * *", "1,".repeat(5_000));
    assert!(Timetable::cron(&long, "UTC").unwrap_err().to_string().len() < 200);
}

#[test]
fn intervals_are_bounded() {
    for bad in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(999), Duration::MAX] {
        assert_eq!(Timetable::every(bad), Err(TimetableError::Interval(bad)));
    }
    assert!(Timetable::every(Duration::from_nanos(1_000_000_001)).is_err());
    assert!(Timetable::every(Duration::from_millis(1500)).is_ok());
}

#[test]
fn an_interval_ticks_at_its_multiples() {
    let timetable = Timetable::every(Duration::from_secs(7)).unwrap();
    let next = |millis| timetable.next_after(Timestamp::from_millis(millis)).map(Timestamp::as_millis);
    assert_eq!((next(0), next(6_999), next(7_000), next(-1)), (Some(7_000), Some(7_000), Some(14_000), Some(0)));
    assert_eq!(next(i64::MAX), None);
}

#[test]
fn a_leap_day_is_found_however_far_it_is() {
    let next = |expression, after| timetable(expression, "UTC").next_after(at(after)).unwrap();
    assert_eq!(next("0 0 29 2 *", "2026-08-01T00:00Z"), at("2028-02-29T00:00Z"));
    assert_eq!(next("0 0 29 2 *", "2096-03-01T00:00Z"), at("2104-02-29T00:00Z"), "1900 and 2100 have none");
    // Both fields must match, since one begins with a star: a 29 February on a weekend.
    assert_eq!(next("0 0 29 2 */6", "2072-01-01T00:00Z"), at("2076-02-29T00:00Z"));
}

#[test]
fn the_usual_dialect_is_understood() {
    let same = |a: &str, b: &str| assert_eq!(Cron::parse(a), Cron::parse(b), "{a} {b}");
    same("@daily", "0 0 * * *");
    same(" @Weekly ", "0 0 * * 7");
    same("0 0 * JAN-mar SUN", "0 0 * 1-3 0");
    same("0 0 * * SAT-SUN", "0 0 * * 0,6");
    same("0 0 * * 5-7", "0 0 * * 0,5,6");
    same("*/20 * * * *", "0,20,40 * * * *");
    same("10-30/10 0-23/12 * * *", "10,20,30 0,12 * * *");
    same("0 0 * * 1-7", "0 0 * * *");
}

#[test]
fn either_day_field_is_enough_when_both_restrict() {
    let first_or_monday = timetable("0 0 1 * MON", "UTC");
    let expected = [
        "2026-06-01T00:00Z",
        "2026-06-08T00:00Z",
        "2026-06-15T00:00Z",
        "2026-06-22T00:00Z",
        "2026-06-29T00:00Z",
        "2026-07-01T00:00Z",
    ];
    assert_eq!(ticks(&first_or_monday, "2026-05-31T00:00Z", "2026-07-01T00:00Z"), expected);
}

#[cfg(feature = "time-zones")]
mod zones {
    use super::*;

    const NEW_YORK: &str = "America/New_York";

    #[test]
    fn a_time_that_is_left_out_is_made_up_for_at_the_jump() {
        let half_past_two = timetable("30 2 * * *", NEW_YORK);
        let expected = ["2026-03-08T07:00Z", "2026-03-09T06:30Z"];
        assert_eq!(ticks(&half_past_two, "2026-03-07T12:00Z", "2026-03-09T12:00Z"), expected);
        let several = timetable("*/15 2 * * *", NEW_YORK);
        assert_eq!(ticks(&several, "2026-03-07T12:00Z", "2026-03-08T12:00Z"), ["2026-03-08T07:00Z"], "once for all");
        let and_at_the_jump = timetable("0,30 2,3 * * *", NEW_YORK);
        let expected = ["2026-03-08T07:00Z", "2026-03-08T07:30Z"];
        assert_eq!(ticks(&and_at_the_jump, "2026-03-07T12:00Z", "2026-03-08T12:00Z"), expected);
    }

    #[test]
    fn a_time_that_comes_twice_counts_once() {
        let half_past_one = timetable("30 1 * * *", NEW_YORK);
        let expected = ["2026-11-01T05:30Z", "2026-11-02T06:30Z"];
        assert_eq!(ticks(&half_past_one, "2026-10-31T12:00Z", "2026-11-02T12:00Z"), expected);
        // Also when the search begins within the second time.
        assert_eq!(half_past_one.next_after(at("2026-11-01T06:10Z")), Some(at("2026-11-02T06:30Z")));
    }

    #[test]
    fn a_job_of_every_hour_keeps_its_rhythm() {
        let half_hours = timetable("*/30 * * * *", NEW_YORK);
        let expected = ["2026-11-01T05:00Z", "2026-11-01T05:30Z", "2026-11-01T06:00Z", "2026-11-01T06:30Z"];
        assert_eq!(ticks(&half_hours, "2026-11-01T04:59Z", "2026-11-01T06:59Z"), expected);
        let quarter_past = timetable("15 * * * *", NEW_YORK);
        let expected = ["2026-03-08T06:15Z", "2026-03-08T07:15Z"];
        assert_eq!(ticks(&quarter_past, "2026-03-08T06:00Z", "2026-03-08T08:00Z"), expected);
    }

    #[test]
    fn a_shift_of_half_an_hour() {
        let quarter_past_two = timetable("15 2 * * *", "Australia/Lord_Howe");
        // Clocks go from 02:00 (+10:30) to 02:30 (+11:00).
        let expected = ["2026-10-02T15:45Z", "2026-10-03T15:30Z", "2026-10-04T15:15Z"];
        assert_eq!(ticks(&quarter_past_two, "2026-10-02T12:00Z", "2026-10-05T12:00Z"), expected);
        // And back from 02:00 (+11:00) to 01:30 (+10:30).
        let quarter_to_two = timetable("45 1 * * *", "Australia/Lord_Howe");
        let expected = ["2026-04-04T14:45Z", "2026-04-05T15:15Z"];
        assert_eq!(ticks(&quarter_to_two, "2026-04-04T12:00Z", "2026-04-05T18:00Z"), expected);
    }

    #[test]
    fn berlin_in_both_directions() {
        let half_past_two = timetable("30 2 * * *", "Europe/Berlin");
        let expected = ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"];
        assert_eq!(ticks(&half_past_two, "2026-03-28T00:00Z", "2026-03-30T12:00Z"), expected);
        let expected = ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"];
        assert_eq!(ticks(&half_past_two, "2026-10-24T00:00Z", "2026-10-26T12:00Z"), expected);
    }

    #[test]
    fn a_midnight_that_is_missing() {
        // Clocks of Sao Paulo went from 24:00 to 01:00 on 3 November 2018, and from 24:00 to 23:00 on 16 February 2019.
        let midnight = timetable("0 0 * * *", "America/Sao_Paulo");
        let expected = ["2018-11-03T03:00Z", "2018-11-04T03:00Z", "2018-11-05T02:00Z"];
        assert_eq!(ticks(&midnight, "2018-11-03T00:00Z", "2018-11-05T12:00Z"), expected);
        let late = timetable("30 23 * * *", "America/Sao_Paulo");
        let expected = ["2019-02-16T01:30Z", "2019-02-17T01:30Z", "2019-02-18T02:30Z"];
        assert_eq!(ticks(&late, "2019-02-16T00:00Z", "2019-02-18T12:00Z"), expected);
        assert_eq!(
            ticks(&midnight, "2019-02-16T12:00Z", "2019-02-18T12:00Z"),
            ["2019-02-17T03:00Z", "2019-02-18T03:00Z"]
        );
    }

    #[test]
    fn a_day_that_never_was() {
        // Apia went from 29 to 31 December 2011.
        let noon = timetable("0 12 * * *", "Pacific/Apia");
        let expected = ["2011-12-29T22:00Z", "2011-12-30T10:00Z", "2011-12-30T22:00Z"];
        assert_eq!(ticks(&noon, "2011-12-29T12:00Z", "2011-12-31T00:00Z"), expected);
    }

    #[test]
    fn unknown_zones_are_refused_with_what_may_be_meant() {
        for (name, meant) in [("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Mars", "IANA")] {
            let error = Timetable::cron("* * * * *", name).unwrap_err().to_string();
            assert!(error.contains(meant), "{error}");
        }
        let began = std::time::Instant::now();
        assert!(Timetable::cron("* * * * *", &"Europe/".repeat(2_000)).unwrap_err().to_string().len() < 250);
        assert!(began.elapsed() < Duration::from_millis(100));
        assert!(Timetable::zones().any(|zone| zone == "UTC") && Timetable::zones().count() > 400);
    }

    /// What the clocks of a place show at each minute from one instant on, as if it were UTC.
    fn shown(zone: &jiff::tz::TimeZone, from: i64, minutes: i64) -> Vec<i64> {
        let at = |minute| jiff::Timestamp::from_second(from + minute * 60).unwrap();
        (0..minutes).map(|minute| from + minute * 60 + i64::from(zone.to_offset(at(minute)).seconds())).collect()
    }

    /// By definition, without stretches: looks at what the clocks show at each minute, and showed in the minutes before.
    fn by_looking(cron: &Cron, from: i64, shown: &[i64]) -> Vec<i64> {
        let once = !cron.every_hour();
        let matches = |local: i64| cron.first_from(local) == Some(local);
        let fires = |place: usize| {
            let (now, before) = (shown[place], shown[place.saturating_sub(1)]);
            let again = shown[..place].contains(&now);
            let left_out = (before + 60..now).step_by(60).any(matches);
            if once { matches(now) && !again || left_out } else { matches(now) }
        };
        let found = (1..shown.len()).filter(|&place| fires(place));
        found.map(|place| from + i64::try_from(place).unwrap() * 60).collect()
    }

    #[test]
    fn the_search_finds_what_looking_at_each_minute_finds() {
        let days = [
            "2026-03-07",
            "2026-10-31",
            "2026-03-28",
            "2026-10-24",
            "2026-10-03",
            "2026-04-04",
            "2018-11-03",
            "2019-02-16",
        ];
        let zones = [NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata"];
        let expressions =
            ["30 2 * * *", "*/7 * * * *", "0 */6 * * *", "10,50 0-3 * * *", "59 23 * * *", "0 0 * * *", "* 1,2 * * *"];
        for zone in zones {
            let known = jiff::tz::TimeZoneDatabase::bundled().get(zone).unwrap();
            for day in days {
                let from = at(&format!("{day}T12:00Z")).as_millis() / 1000;
                let shown = shown(&known, from, 30 * 60);
                for expression in expressions {
                    let looked = by_looking(&Cron::parse(expression).unwrap(), from, &shown);
                    let timetable = timetable(expression, zone);
                    let next = |tick: &Timestamp| timetable.next_after(*tick);
                    let ticks = std::iter::successors(next(&Timestamp::from_millis(from * 1000)), next);
                    let found = ticks.map(|tick| tick.as_millis() / 1000).take_while(|at| *at < from + 30 * 3600);
                    assert_eq!(found.collect::<Vec<_>>(), looked, "{expression} in {zone} from {day}");
                }
            }
        }
    }
}

#[test]
fn due_ticks_are_the_latest_and_cost_no_more_for_a_long_absence() {
    let minutely = timetable("* * * * *", "UTC");
    let now = at("2026-05-01T00:00Z");
    let all = due(&minutely, at("2026-04-30T23:57Z"), now, 10);
    assert_eq!(all.ticks.len(), 4, "both ends count");
    assert_eq!(all.next, Some(at("2026-05-01T00:01Z")));
    let latest = due(&minutely, at("1990-01-01T00:00Z"), now, 2);
    assert_eq!(latest.ticks, [at("2026-04-30T23:59Z"), now]);
    let rare = due(&timetable("0 0 29 2 *", "UTC"), at("2000-01-01T00:00Z"), now, 2);
    assert_eq!(rare.ticks, [at("2020-02-29T00:00Z"), at("2024-02-29T00:00Z")]);
    assert_eq!(due(&minutely, now.plus(Duration::from_secs(60)), now, 2).ticks, []);
}

#[test]
fn timetables_are_told_in_plain_words() {
    for (expression, words) in [
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("0 * * * *", "every hour"),
        ("15,45 * * * *", "every hour at :15 and :45"),
        ("30 2 * * MON", "at 02:30 on Monday, UTC"),
        ("30 2 * * MON-FRI", "at 02:30 on Monday to Friday, UTC"),
        ("0 9,17 * * SAT,SUN", "at 09:00 and 17:00 on Saturday and Sunday, UTC"),
        ("0 */6 * * *", "at 00:00, 06:00, 12:00 and 18:00, UTC"),
        ("0 */2 * * *", "every 2 hours, UTC"),
        ("*/15 9-17 * * *", "every 15 minutes in the hours 09 to 17, UTC"),
        ("* 3 * * *", "every minute in the hour 03, UTC"),
        ("0 0 1 * *", "at 00:00 on the 1st, UTC"),
        ("0 0 1,2,3,11,12,13,21,22,23,31 * *", "at 00:00 on the 1st to 3rd, 11th to 13th, 21st to 23rd and 31st, UTC"),
        ("0 0 29 2 *", "at 00:00 on the 29th in February, UTC"),
        ("0 0 1 1-3,12 *", "at 00:00 on the 1st in January to March and December, UTC"),
        ("0 0 1 * MON", "at 00:00 on the 1st and on Monday, UTC"),
        (
            "0 0 */2 * TUE",
            "at 00:00 on the 1st, 3rd, 5th, 7th, 9th, 11th, 13th, 15th, 17th, 19th, 21st, 23rd, 25th, 27th, 29th and 31st if that is a Tuesday, UTC",
        ),
        ("*/5 * * * SUN", "every 5 minutes on Sunday, UTC"),
    ] {
        assert_eq!(timetable(expression, "UTC").to_string(), words);
    }
    for (seconds, words) in [
        (1, "every second"),
        (30, "every 30 seconds"),
        (60, "every minute"),
        (300, "every 5 minutes"),
        (90, "every 1m 30s"),
        (86_400, "every day"),
        (7_200, "every 2 hours"),
    ] {
        assert_eq!(Timetable::every(Duration::from_secs(seconds)).unwrap().to_string(), words);
    }
}
