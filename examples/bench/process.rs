//! What this process has used so far. Zeros where the system does not tell.

use std::fs::read_to_string;

/// CPU time of this process, all threads, in microseconds.
pub(crate) fn cpu_us() -> f64 {
    // Fields 14 and 15, in hundredths of a second; the second one may hold spaces, and ends with a parenthesis.
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat.rsplit(')').next().unwrap_or_default().split(' ').flat_map(str::parse).collect();
    // State is no number: the first number here is field 4.
    match fields.get(10..12) {
        Some(times) => times.iter().sum::<f64>() * 1e4,
        None => 0.0,
    }
}

/// Memory that this process holds, in bytes.
pub(crate) fn resident() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    value.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
