//! Child processes of the tests: this test binary, run again with a role.

use crate::common::{AddTwoInts, Fibonacci, spawn_adder, spawn_counter, spawn_echo};
use futures::StreamExt;
use prehend_msgs::std_msgs::msg::String as StringMessage;
use prehend_ros::{Context, Node, NodeOptions, QosProfile, RosError, ServiceMapping, shutdown_signal};
use std::process::{Child, Command, ExitStatus, Stdio};

const ROLE: &str = "PREHEND_ROS_TEST_ROLE";

/// What a child does until its stdin closes or SIGTERM comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// Offers `/add`, `/echo` and `/count`, holds `/state`, listens (reliably) to `/commands` and (best effort) to `/images`.
    Server,
    /// As `Server`, with services as rmw_cyclonedds has them.
    CycloneServer,
    /// Calls `/add` and `/count` of the parent once each and says so on `/report`.
    Caller,
    /// Leaves the domain when its stdin closes, and exits at once, while a task still holds a publisher.
    Leaver,
    /// Exits with 7 when the domain id is refused.
    BadDomain,
}

const ROLES: [Role; 5] = [Role::Server, Role::CycloneServer, Role::Caller, Role::Leaver, Role::BadDomain];

/// A child process; killed when dropped.
pub(crate) struct ChildProcess(Child);

impl ChildProcess {
    pub(crate) fn spawn(role: Role, domain_id: &str) -> Self {
        let child = Command::new(std::env::current_exe().expect("known"))
            .args(["child::child_process", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, format!("{role:?}"))
            .env("ROS_DOMAIN_ID", domain_id)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(if std::env::var_os("RUST_LOG").is_some() { Stdio::inherit() } else { Stdio::null() })
            .spawn()
            .expect("started");
        Self(child)
    }

    /// SIGKILL: no last words.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }

    /// SIGSTOP, and after a time SIGCONT.
    pub(crate) async fn suspend(&mut self, time: std::time::Duration) {
        let signal = |name: &str| {
            let sent = Command::new("kill").args([name, &self.0.id().to_string()]).status().expect("run");
            assert!(sent.success());
        };
        signal("-STOP");
        tokio::time::sleep(time).await;
        signal("-CONT");
    }

    /// How the child ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("known")
    }

    /// SIGTERM: the child takes its leave.
    pub(crate) fn terminate(&mut self) {
        let killed = Command::new("kill").arg(self.0.id().to_string()).status().expect("run");
        assert!(killed.success());
    }

    /// Closes the child's stdin.
    pub(crate) fn orphan(&mut self) {
        drop(self.0.stdin.take());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.0.wait().expect("gone")
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn serve(mapping: ServiceMapping) -> Result<(), RosError> {
    let shutdown = shutdown_signal(true);
    let context = Context::create()?;
    let options = NodeOptions { service_mapping: Some(mapping), ..Default::default() };
    let node = Node::create(&context, "server", "/test", options)?;
    spawn_adder(&node, "/add");
    spawn_echo(&node, "/echo");
    spawn_counter(&node, "/count");
    let state = node.create_publisher::<StringMessage>("/state", QosProfile::transient_local())?;
    for index in 0..20 {
        state.publish(&StringMessage { data: index.to_string() })?;
    }
    let mut commands = node.subscribe::<StringMessage>("/commands", QosProfile::default())?;
    let _images =
        node.subscribe::<prehend_msgs::sensor_msgs::msg::Image>("/images", QosProfile::sensor_data())?;
    tokio::spawn(async move { while commands.next().await.is_some() {} });
    shutdown.await;
    Ok(())
}

async fn call() -> Result<(), RosError> {
    use crate::common::{DEADLINE, count_to, sum};
    let context = Context::create()?;
    let node = Node::create(&context, "caller", "/test", NodeOptions::default())?;
    let client = node.create_client::<AddTwoInts>("/add", QosProfile::services())?;
    let answer = client.request(sum(20, 22), DEADLINE).await?;
    let counter = node.create_action_client::<Fibonacci>("/count")?;
    let mut goal = counter.send_goal(count_to(3), DEADLINE).await?;
    let (status, result) = goal.result(DEADLINE).await?;
    let report = node.create_publisher::<StringMessage>("/report", QosProfile::transient_local())?;
    report.publish(&StringMessage { data: format!("{} {status:?} {:?}", answer.sum, result.sequence) })?;
    shutdown_signal(true).await;
    Ok(())
}

async fn leave() -> Result<(), RosError> {
    let shutdown = shutdown_signal(true);
    let context = Context::create()?;
    let node = Node::create(&context, "leaver", "/test", NodeOptions::default())?;
    let publisher = node.create_publisher::<StringMessage>("/last_words", QosProfile::default())?;
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(publisher);
    });
    shutdown.await;
    context.shutdown();
    std::process::exit(0);
}

/// Does nothing in a normal run.
#[test]
fn child_process() {
    let Ok(name) = std::env::var(ROLE) else { return };
    let role = ROLES.into_iter().find(|role| format!("{role:?}") == name).expect("a role");
    prehend_ros::init_logging(&prehend_ros::RosArguments::default());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("made");
    let outcome = runtime.block_on(async {
        match role {
            Role::Server => serve(ServiceMapping::Enhanced).await,
            Role::CycloneServer => serve(ServiceMapping::Cyclone).await,
            Role::Caller => call().await,
            Role::Leaver => leave().await,
            Role::BadDomain => Context::create().map(drop),
        }
    });
    // Tasks hold endpoints: with the runtime they go, and the process leaves the domain.
    drop(runtime);
    match (role, outcome) {
        (Role::BadDomain, Err(RosError::BadDomainId { .. })) => std::process::exit(7),
        (_, outcome) => outcome.expect("the role was played"),
    }
}
