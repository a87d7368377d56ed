//! The command `dtq`: steers a store whose workers are elsewhere. `dtq --help` tells the rest.

use std::process::ExitCode;

fn main() -> ExitCode {
    dtq::__private::tool()
}
