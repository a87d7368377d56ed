//! What a process has used so far. Zeros where the system does not tell.

use std::fs::read_to_string;

/// CPU time of this process, all threads, in microseconds.
pub(crate) fn cpu_us() -> f64 {
    cpu_us_in(&read_to_string("/proc/self/stat").unwrap_or_default())
}

/// The same of another process, also of one that has ended and was not waited for yet.
pub(crate) fn cpu_us_of(process: u32) -> f64 {
    cpu_us_in(&read_to_string(format!("/proc/{process}/stat")).unwrap_or_default())
}

/// Memory that this process holds, in bytes.
pub(crate) fn resident() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    value.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Fields 14 and 15, in hundredths of a second.
fn cpu_us_in(stat: &str) -> f64 {
    // The second field may hold spaces, and ends with a parenthesis. The third one is no number: the first here is the
    // fourth.
    let fields: Vec<f64> = stat.rsplit(')').next().unwrap_or_default().split(' ').flat_map(str::parse).collect();
    match fields.get(10..12) {
        Some(times) => times.iter().sum::<f64>() * 1e4,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_found_behind_a_name_with_spaces_and_parentheses() {
        let stat = "71 (a) b (c) S 4 5 6 7 8 9 10 11 12 13 140 15 16 17 20 0";
        assert_eq!(cpu_us_in(stat), 155.0 * 1e4);
        assert_eq!(cpu_us_in(""), 0.0);
    }
}
