//! Real children: `sh` and `cat` stand for nodes.

use super::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// No child of these tests may take longer for anything.
const PATIENCE: Duration = Duration::from_secs(20);

fn spec(name: &str, script: &str, restart: Restart, output: Output) -> ProcessSpec {
    ProcessSpec { name: name.to_owned(), arguments: vec!["-c".into(), script.into()], restart, output }
}

fn shell(folder: &Path) -> Supervisor {
    Supervisor::new(Path::new("/bin/sh"), vec![("PREHEND_TEST".into(), "yes".into())], folder)
}

async fn next(supervisor: &mut Supervisor) -> Event {
    tokio::time::timeout(PATIENCE, supervisor.event()).await.expect("an event in time")
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_child_ends_by_itself_when_its_stdin_closes_and_is_reaped() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = shell(folder.path());
    supervisor
        .start(spec("cat", "echo $PREHEND_TEST >&2; exec cat", Restart::Always, Output::Logged))
        .unwrap();
    let Event::Started { pid, .. } = next(&mut supervisor).await else { panic!("not started") };
    assert_eq!(supervisor.pid("cat"), Some(pid));
    let log = supervisor.log_path("cat");
    tokio::time::timeout(PATIENCE, supervisor.stop()).await.expect("ends");
    assert!(!alive(pid));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "yes\n");
}

#[tokio::test]
async fn a_child_that_does_not_listen_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = shell(folder.path());
    supervisor.start(spec("deaf", "exec sleep 1000", Restart::Always, Output::Logged)).unwrap();
    let Event::Started { pid, .. } = next(&mut supervisor).await else { panic!("not started") };
    tokio::time::timeout(PATIENCE, supervisor.stop()).await.expect("ends");
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_killed_child_comes_back_and_one_that_must_not_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = shell(folder.path());
    supervisor.start(spec("node", "exec cat", Restart::Always, Output::Logged)).unwrap();
    let Event::Started { pid: first, .. } = next(&mut supervisor).await else { panic!("not started") };
    supervisor.kill("node");
    let Event::Died { restart_in, status, .. } = next(&mut supervisor).await else { panic!("not dead") };
    assert!(restart_in.is_some(), "{status}");
    let Event::Started { pid: second, .. } = next(&mut supervisor).await else { panic!("not started") };
    assert_ne!(first, second);

    supervisor.start(spec("once", "exec cat", Restart::Never, Output::Logged)).unwrap();
    assert!(matches!(next(&mut supervisor).await, Event::Started { .. }));
    supervisor.kill("once");
    assert!(matches!(next(&mut supervisor).await, Event::Died { restart_in: None, .. }));
    assert_eq!(supervisor.pid("once"), None);

    supervisor.remove("node").await;
    assert!(!alive(second));
    supervisor.stop().await;
}

#[tokio::test]
async fn a_piped_child_talks_with_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = shell(folder.path());
    let pipes = supervisor.start(spec("echo", "exec cat", Restart::Never, Output::Piped)).unwrap();
    let Pipes { mut stdin, stdout } = pipes.expect("pipes");
    stdin.write_all(b"hello\n").await.unwrap();
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("hello"));
    drop(stdin);
    assert!(matches!(next(&mut supervisor).await, Event::Started { .. }));
    assert!(matches!(next(&mut supervisor).await, Event::Died { .. }));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = Supervisor::new(Path::new("/no/such/program"), Vec::new(), folder.path());
    let result = supervisor.start(spec("x", "", Restart::Always, Output::Logged));
    assert!(matches!(result, Err(SupervisorError::Spawn { .. })), "{result:?}");
}
