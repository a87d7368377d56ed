//! Tasks that are registered by hand, and the line that tells which tasks a worker has.

use super::{Program, run};

const ONLY: [(&str, &str); 1] = [("E2E_ONLY_REGISTERED", "1")];

fn command(arguments: &[&str]) -> std::process::Command {
    Program::command_of(env!("CARGO_BIN_EXE_e2e_by_hand"), arguments)
}

async fn start_line(mut command: std::process::Command) -> String {
    let program = Program::start(&mut command);
    program.logs("worker starts", 1).await;
    program.lines("worker starts").remove(0)
}

#[tokio::test]
async fn a_worker_tells_the_names_of_its_tasks_when_it_starts() {
    let line = start_line(command(&[])).await;
    assert!(line.contains("tasks=\"by_hand, left_aside\""), "found twice is once: {line}");
    let mut only = command(&[]);
    only.envs(ONLY);
    let line = start_line(only).await;
    assert!(line.contains("tasks=\"by_hand\""), "what was linked is left aside: {line}");
}

#[test]
fn tasks_lists_what_set_up_registers() {
    let names = |arguments: &[&str]| {
        let ended = run(command(arguments).envs(ONLY));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let names = ended.out.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&["tasks", "--set-up"]), ["by_hand"]);
    assert_eq!(names(&["tasks"]), ["by_hand", "left_aside"], "without set-up it knows what was linked");
}
