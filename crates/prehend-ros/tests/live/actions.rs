//! Actions: every end of a goal, concurrent goals, and servers that die or leave.

use crate::child::{ChildProcess, Role};
use crate::common::{DEADLINE, Fibonacci, OwnDomain, Sequence, count_to, fresh_node, spawn_counter};
use futures::StreamExt;
use prehend_ros::{ActionClient, CancelRejection, GoalStatus, RosError};
use std::time::Duration;

const GOALS: i32 = 240;

fn within_process() -> (OwnDomain, prehend_ros::Node, ActionClient<Fibonacci>) {
    let (lease, node) = fresh_node("commander");
    spawn_counter(&node, "/count");
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    (lease, node, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_goals_lose_no_result_and_no_feedback() {
    let (lease, node) = fresh_node("commander");
    let _server = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    client.wait_available(DEADLINE).await.expect("up");
    let goals = (0..GOALS).map(|number| {
        let client = client.clone();
        async move {
            let order = number % 7;
            let mut goal = client.send_goal(count_to(order), DEADLINE).await.expect("accepted");
            let (status, result) = goal.result(DEADLINE).await.expect("ended");
            assert_eq!((status, result.sequence.len()), (GoalStatus::Succeeded, order as usize));
        }
    });
    let ended = futures::stream::iter(goals).buffer_unordered(12).count().await;
    assert_eq!(ended, GOALS as usize);
    let mut goal = client.send_goal(count_to(500), DEADLINE).await.expect("accepted");
    let feedback = goal.feedback().take(500).collect::<Vec<_>>();
    let heard = tokio::time::timeout(DEADLINE, feedback).await.expect("in time");
    assert_eq!(heard.len(), 500);
    assert!(heard.iter().enumerate().all(|(index, partial)| partial.sequence.len() == index + 1));
    assert_eq!(goal.result(DEADLINE).await.expect("ended").0, GoalStatus::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn reject_abort_and_drop() {
    let (_lease, _node, client) = within_process();
    let rejected = client.send_goal(count_to(-4), DEADLINE).await.map(|goal| goal.id());
    assert_eq!(rejected, Err(RosError::Rejected { action: "/count".to_owned() }));
    for (order, sequence) in [(-5, vec![-5]), (-2, vec![])] {
        let mut goal = client.send_goal(count_to(order), DEADLINE).await.expect("accepted");
        let (status, result) = goal.result(DEADLINE).await.expect("ended");
        assert_eq!((status, result.sequence), (GoalStatus::Aborted, sequence), "{order}");
        assert_eq!(goal.status(), GoalStatus::Aborted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_goal_never_reports_success() {
    let (_lease, _node, client) = within_process();
    // -1 ends as canceled by itself, -3 claims success after the cancel request.
    for order in [-1, -3] {
        let mut goal = client.send_goal(count_to(order), DEADLINE).await.expect("accepted");
        goal.cancel(DEADLINE).await.expect("cancelling");
        let (status, result) = goal.result(DEADLINE).await.expect("ended");
        assert_eq!((status, result.sequence), (GoalStatus::Canceled, vec![order]));
        let again = goal.canceller().cancel(DEADLINE).await;
        let ended =
            RosError::CancelRejected { action: "/count".to_owned(), reason: CancelRejection::GoalTerminated };
        assert_eq!(again, Err(ended));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancel_all_cancels_the_goals_of_every_client() {
    let (_lease, node, client) = within_process();
    let other = node.create_action_client::<Fibonacci>("/count").expect("made");
    assert_eq!(other.cancel_all(DEADLINE).await, Ok(0));
    let mut goals = Vec::new();
    for _ in 0..3 {
        goals.push(client.send_goal(count_to(-1), DEADLINE).await.expect("accepted"));
    }
    // Whoever listens knows that the server has goals, and when it has none.
    let told = async |expected: bool| {
        let hears = async {
            while other.occupied().is_some() != expected {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(DEADLINE, hears).await.expect("it is told")
    };
    told(true).await;
    assert_eq!(other.cancel_all(DEADLINE).await, Ok(3));
    for mut goal in goals {
        assert_eq!(goal.result(DEADLINE).await.expect("ended").0, GoalStatus::Canceled);
    }
    told(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occupied_server_hears_nothing_before_it_is_free() {
    let (_lease, node) = fresh_node("commander");
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    let mut server = node.create_action_server::<Fibonacci>("/count").expect("made");
    let (free, freed) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let request = server.next().await.expect("a goal");
        let occupied = request.occupy();
        let goal = request.accept();
        freed.await.expect("the test goes on");
        assert!(!goal.is_cancel_requested(), "it has heard the request");
        goal.succeed(Sequence { sequence: vec![1] });
        drop(occupied);
        std::future::pending::<()>().await;
    });
    let mut goal = client.send_goal(count_to(1), DEADLINE).await.expect("accepted");
    let silence = Duration::from_millis(600);
    let deaf = goal.cancel(silence).await;
    assert!(matches!(deaf, Err(RosError::Timeout { .. })), "{deaf:?}");
    // Neither does it tell its status, nor does it answer the question whether it lives.
    let lost = goal.result(silence).await;
    assert!(matches!(lost, Err(RosError::PeerLost { .. })), "{lost:?}");
    free.send(()).expect("the server goes on");
    let (status, result) = goal.result(DEADLINE).await.expect("ended");
    assert_eq!((status, result.sequence), (GoalStatus::Succeeded, vec![1]), "the cancel came too late");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_noticed_by_its_silence() {
    let (lease, node) = fresh_node("commander");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    let mut goal = client.send_goal(count_to(-1), DEADLINE).await.expect("accepted");
    // A live server with nothing to say is no dead one: many status periods without feedback.
    let silence = Duration::from_millis(800);
    let alive = tokio::time::timeout(silence * 3, goal.result(silence)).await;
    assert!(alive.is_err(), "{alive:?}");
    child.kill();
    let lost = tokio::time::timeout(DEADLINE, goal.result(silence)).await.expect("noticed");
    assert!(matches!(lost, Err(RosError::PeerLost { .. })), "{lost:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_replaced_does_not_know_the_goal() {
    let (lease, node) = fresh_node("commander");
    let domain = lease.domain_id().to_string();
    let mut first = ChildProcess::spawn(Role::Server, &domain);
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    let mut goal = client.send_goal(count_to(-1), DEADLINE).await.expect("accepted");
    first.kill();
    let _second = ChildProcess::spawn(Role::Server, &domain);
    let lost = tokio::time::timeout(DEADLINE, goal.result(Duration::from_secs(2))).await.expect("noticed");
    assert!(matches!(lost, Err(RosError::PeerLost { .. })), "{lost:?}");
    // The successor takes goals.
    let mut status = None;
    for _ in 0..60 {
        if let Ok(mut goal) = client.send_goal(count_to(2), Duration::from_millis(300)).await {
            status = goal.result(DEADLINE).await.ok().map(|(status, _)| status);
            break;
        }
    }
    assert_eq!(status, Some(GoalStatus::Succeeded));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_leaves_is_noticed_at_once() {
    let (lease, node) = fresh_node("commander");
    let mut child = ChildProcess::spawn(Role::Server, &lease.domain_id().to_string());
    let client = node.create_action_client::<Fibonacci>("/count").expect("made");
    let mut goal = client.send_goal(count_to(-1), DEADLINE).await.expect("accepted");
    child.terminate();
    // Far longer than the deadline of the test: only the leave can end this.
    let ended = tokio::time::timeout(DEADLINE, goal.result(DEADLINE * 100)).await.expect("noticed");
    // The child aborts its goal on the way out; its last words may or may not arrive.
    assert!(matches!(ended, Err(RosError::PeerLost { .. }) | Ok((GoalStatus::Aborted, _))), "{ended:?}");
}
