//! What the peer does when it is told.

use crate::Failure;
use crate::offers::{Offers, picture};
use futures::StreamExt;
use prehend_msgs::control_msgs::action::GripperCommand;
use prehend_msgs::rcl_interfaces::msg::{Parameter, ParameterType};
use prehend_msgs::rcl_interfaces::srv::{GetParameters, ListParameters, SetParameters};
use prehend_msgs::sensor_msgs::msg::Image;
use prehend_msgs::std_msgs::msg::String as Text;
use prehend_msgs::std_srvs::srv::{SetBool, Trigger};
use prehend_ros::{ActionClient, Client, Node, QosProfile, Subscription, nanoseconds};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longest wait for anything.
const DEADLINE: Duration = Duration::from_secs(20);

/// Silence after which a stream of samples has ended.
const SILENCE: Duration = Duration::from_secs(3);

/// Clients of what the other peer offers.
pub(crate) struct Uses {
    place: String,
    switch: Client<SetBool::Service>,
    text: Client<Trigger::Service>,
    gripper: ActionClient<GripperCommand::Action>,
    list: Client<ListParameters::Service>,
    get: Client<GetParameters::Service>,
    set: Client<SetParameters::Service>,
}

impl Uses {
    pub(crate) fn make(node: &Node, place: &str) -> Result<Self, Failure> {
        let services = QosProfile::services();
        Ok(Self {
            place: place.to_owned(),
            switch: node.create_client(&format!("{place}/switch"), services)?,
            text: node.create_client(&format!("{place}/text"), services)?,
            gripper: node.create_action_client(&format!("{place}/gripper"))?,
            list: node.create_client(&format!("{place}/list_parameters"), services)?,
            get: node.create_client(&format!("{place}/get_parameters"), services)?,
            set: node.create_client(&format!("{place}/set_parameters"), services)?,
        })
    }
}

/// Does what `words` say; what was seen.
pub(crate) async fn obey(
    node: &Node,
    offers: &Offers,
    uses: &Uses,
    words: &[&str],
) -> Result<Value, Failure> {
    match words {
        ["nodes"] => Ok(json!(node.node_names())),
        ["topics"] => Ok(json!(node.topic_names_and_types())),
        ["say", count] => say_numbers(offers, count.parse()?),
        ["show", what, count, width, height, rate] => {
            let size = (width.parse()?, height.parse()?);
            show(node, offers, what, count.parse()?, size, rate.parse()?).await
        }
        ["hear", "numbers", count] => hear_numbers(node, uses, count.parse()?).await,
        ["hear", "latched"] => hear_latched(node, uses).await,
        ["hear", what, count] => hear_images(node, uses, what, count.parse()?).await,
        ["call", count] => call(uses, count.parse()?).await,
        ["text"] => {
            let answer = uses.text.request(Trigger::Request::default(), DEADLINE).await?;
            Ok(json!({"success": answer.success, "length": answer.message.len()}))
        }
        ["goal", position] => goal(uses, position.parse()?, None).await,
        ["cancel", position, after] => goal(uses, position.parse()?, Some(after.parse()?)).await,
        ["parameters"] => parameters(uses).await,
        _ => Err("no such command".into()),
    }
}

fn say_numbers(offers: &Offers, count: u32) -> Result<Value, Failure> {
    for number in 0..count {
        offers.numbers.publish(&Text { data: number.to_string() })?;
    }
    Ok(json!({"sent": count, "dropped": offers.numbers.dropped()}))
}

async fn show(
    node: &Node,
    offers: &Offers,
    what: &str,
    count: u32,
    (width, height): (u32, u32),
    rate: f64,
) -> Result<Value, Failure> {
    let publisher = if what == "large" { &offers.large } else { &offers.images };
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / rate));
    for number in 0..count {
        ticks.tick().await;
        publisher.publish(&picture(node, number, width, height))?;
    }
    Ok(json!({"sent": count, "dropped": publisher.dropped()}))
}

/// The next sample, unless none comes.
async fn next<T: prehend_msgs::Message>(subscription: &mut Subscription<T>, wait: Duration) -> Option<T> {
    tokio::time::timeout(wait, subscription.next()).await.ok().flatten()
}

async fn hear_numbers(node: &Node, uses: &Uses, count: usize) -> Result<Value, Failure> {
    let mut numbers =
        node.subscribe::<Text>(&format!("{}/numbers", uses.place), QosProfile::default().depth(1000))?;
    let (mut received, mut in_order, mut wait) = (0, true, DEADLINE);
    while received < count {
        let Some(text) = next(&mut numbers, wait).await else { break };
        in_order &= text.data == received.to_string();
        received += 1;
        wait = SILENCE;
    }
    Ok(json!({"received": received, "in_order": in_order}))
}

async fn hear_latched(node: &Node, uses: &Uses) -> Result<Value, Failure> {
    let mut latched =
        node.subscribe::<Text>(&format!("{}/latched", uses.place), QosProfile::transient_local())?;
    let first = next(&mut latched, DEADLINE).await.ok_or("nothing came")?;
    let mut all = vec![first.data];
    while let Some(more) = next(&mut latched, Duration::from_millis(500)).await {
        all.push(more.data);
    }
    Ok(json!({"newest": all.last(), "all": all}))
}

async fn hear_images(node: &Node, uses: &Uses, what: &str, count: usize) -> Result<Value, Failure> {
    let qos = if what == "large" { QosProfile::default() } else { QosProfile::sensor_data() };
    let mut images = node.subscribe::<Image>(&format!("{}/{what}", uses.place), qos)?;
    let (mut latencies, mut whole, mut bytes, mut wait) = (Vec::new(), true, 0, DEADLINE);
    while latencies.len() < count {
        let Some(image) = next(&mut images, wait).await else { break };
        let late = nanoseconds(&node.now()) - nanoseconds(&image.header.stamp);
        latencies.push(late as f64 / 1e6);
        let number: usize = image.header.frame_id.parse()?;
        whole &= image.data.len() == (image.step * image.height) as usize;
        // Every byte of a large one would take longer than its way here.
        whole &= image.data.iter().enumerate().step_by(997).all(|(at, byte)| *byte == (at + number) as u8);
        bytes = image.data.len();
        wait = SILENCE;
    }
    Ok(json!({"received": latencies.len(), "whole": whole, "bytes": bytes, "latencies_ms": latencies}))
}

async fn call(uses: &Uses, count: usize) -> Result<Value, Failure> {
    uses.switch.wait_available(DEADLINE).await?;
    let (mut trips, mut right) = (Vec::new(), 0);
    for number in 0..count {
        let data = number % 2 == 0;
        let start = Instant::now();
        let answer = uses.switch.request(SetBool::Request { data }, DEADLINE).await?;
        trips.push(start.elapsed().as_secs_f64() * 1e3);
        right += usize::from(answer.success == data && answer.message == format!("switched {data}"));
    }
    Ok(json!({"right": right, "trips_ms": trips}))
}

/// Sends a goal and follows it; cancels it after some feedbacks.
async fn goal(uses: &Uses, position: f64, cancel_after: Option<usize>) -> Result<Value, Failure> {
    let mut wanted = GripperCommand::Goal::default();
    wanted.command.position = position;
    let mut goal = uses.gripper.send_goal(wanted, DEADLINE).await?;
    let mut feedback = goal.feedback();
    let canceller = goal.canceller();
    let following = async {
        let mut heard = 0;
        while feedback.next().await.is_some() {
            heard += 1;
            if Some(heard) == cancel_after {
                canceller.cancel(DEADLINE).await?;
            }
        }
        Ok::<usize, Failure>(heard)
    };
    let (heard, ended) = tokio::join!(following, goal.result(DEADLINE));
    let (status, result) = ended?;
    Ok(json!({
        "status": format!("{status:?}"), "feedback": heard?, "position": result.position, "reached": result.reached_goal,
    }))
}

/// Lists the other side's parameters, sets `gain`, and tries to set it to a text.
async fn parameters(uses: &Uses) -> Result<Value, Failure> {
    let listed = uses.list.request(ListParameters::Request::default(), DEADLINE).await?;
    let names = GetParameters::Request { names: vec!["gain".to_owned()] };
    let before = uses.get.request(names.clone(), DEADLINE).await?;
    let mut change = Parameter { name: "gain".to_owned(), ..Default::default() };
    change.value.type_ = ParameterType::PARAMETER_DOUBLE;
    change.value.double_value = 2.5;
    let set = uses.set.request(SetParameters::Request { parameters: vec![change.clone()] }, DEADLINE).await?;
    change.value.type_ = ParameterType::PARAMETER_STRING;
    change.value.string_value = "loud".to_owned();
    let refused = uses.set.request(SetParameters::Request { parameters: vec![change] }, DEADLINE).await?;
    let after = uses.get.request(names, DEADLINE).await?;
    let gain = |answer: &GetParameters::Response| answer.values.first().map(|value| value.double_value);
    Ok(json!({
        "listed": listed.result.names, "before": gain(&before), "after": gain(&after),
        "set": set.results.iter().map(|result| result.successful).collect::<Vec<_>>(),
        "text": refused.results.iter().map(|result| result.successful).collect::<Vec<_>>(),
    }))
}
