//! The parameter services of a node, as rclcpp and rclpy offer them.

use super::Parameters;
use super::declared::{Change, Declared};
use super::value::ParameterValue;
use crate::sync::lock;
use crate::{Clock, Node, Publisher, QosProfile, RosError, ServiceRequest};
use futures::StreamExt;
use prehend_msgs::Service;
use prehend_msgs::rcl_interfaces::msg::{
    FloatingPointRange, IntegerRange, ListParametersResult, Parameter, ParameterDescriptor, ParameterEvent,
    SetParametersResult,
};
use prehend_msgs::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters,
    SetParametersAtomically,
};
use tokio::task::AbortHandle;
use tracing::{info, warn};

/// `rmw_qos_profile_parameters` and `rmw_qos_profile_parameter_events`.
const QOS: QosProfile = QosProfile::services().depth(1000);

/// Answers for the parameters of one node.
struct Answering {
    parameters: Parameters,
    node: String,
    clock: Clock,
    events: Publisher<ParameterEvent>,
}

fn message((name, declared): (&String, &Declared)) -> Parameter {
    Parameter { name: name.clone(), value: declared.value.to_wire() }
}

fn descriptor(name: &str, declared: Option<&Declared>) -> ParameterDescriptor {
    let mut descriptor = ParameterDescriptor { name: name.to_owned(), ..Default::default() };
    let Some(Declared { value, description, change }) = declared else { return descriptor };
    descriptor.type_ = value.type_id();
    description.clone_into(&mut descriptor.description);
    match (change, value) {
        (Change::Refused(reason), _) => {
            descriptor.read_only = true;
            reason.clone_into(&mut descriptor.additional_constraints);
        }
        (Change::Within(Some([low, high])), ParameterValue::Integer(_)) => {
            let range = IntegerRange { from_value: *low as i64, to_value: *high as i64, step: 1 };
            descriptor.integer_range.push(range);
        }
        (Change::Within(Some([low, high])), _) => {
            let range = FloatingPointRange { from_value: *low, to_value: *high, step: 0.0 };
            descriptor.floating_point_range.push(range);
        }
        (Change::Within(None), _) => {}
    }
    descriptor
}

fn result(outcome: Result<(), String>) -> SetParametersResult {
    match outcome {
        Ok(()) => SetParametersResult { successful: true, reason: String::new() },
        Err(reason) => SetParametersResult { successful: false, reason },
    }
}

fn changes(parameters: Vec<Parameter>) -> Vec<(String, ParameterValue)> {
    parameters.into_iter().map(|set| (set.name, ParameterValue::from_wire(set.value))).collect()
}

fn respond<S: Service>(request: ServiceRequest<S>, answer: impl FnOnce(S::Request) -> S::Response) {
    let (message, responding) = request.into_parts();
    if let Err(error) = responding.respond(answer(message)) {
        warn!(%error, "a question about parameters was not answered");
    }
}

impl Answering {
    /// Tells everybody of new and changed parameters.
    fn publish(&self, new_parameters: Vec<Parameter>, changed_parameters: Vec<Parameter>) {
        if new_parameters.is_empty() && changed_parameters.is_empty() {
            return;
        }
        let event = ParameterEvent {
            stamp: self.clock.now(),
            node: self.node.clone(),
            new_parameters,
            changed_parameters,
            ..Default::default()
        };
        if let Err(error) = self.events.publish(&event) {
            warn!(%error, "parameter event");
        }
    }

    /// Tells everybody of what was declared since.
    fn publish_news(&self) {
        let new = {
            let mut declared = lock(&self.parameters.declared);
            let fresh = declared.take_fresh();
            fresh.iter().filter_map(|name| Some(message((name, declared.get(name)?)))).collect()
        };
        self.publish(new, Vec::new());
    }

    fn published_changes(&self, changes: &[(String, ParameterValue)], done: impl Fn(usize) -> bool) {
        let changed: Vec<Parameter> = {
            let declared = lock(&self.parameters.declared);
            let names =
                changes.iter().enumerate().filter(|(index, _)| done(*index)).map(|(_, (name, _))| name);
            names.filter_map(|name| Some(message((name, declared.get(name)?)))).collect()
        };
        for parameter in &changed {
            info!(parameter = parameter.name, "set");
        }
        self.publish(Vec::new(), changed);
    }

    fn set(&self, asked: SetParameters::Request) -> SetParameters::Response {
        let changes = changes(asked.parameters);
        let outcomes = lock(&self.parameters.declared).set(&changes);
        self.published_changes(&changes, |index| outcomes[index].is_ok());
        SetParameters::Response { results: outcomes.into_iter().map(result).collect() }
    }

    fn set_atomically(&self, asked: SetParametersAtomically::Request) -> SetParametersAtomically::Response {
        let changes = changes(asked.parameters);
        let outcome = lock(&self.parameters.declared).set_atomically(&changes);
        self.published_changes(&changes, |_| outcome.is_ok());
        SetParametersAtomically::Response { result: result(outcome) }
    }

    fn get(&self, names: &[String]) -> GetParameters::Response {
        let declared = lock(&self.parameters.declared);
        let value =
            |name: &String| declared.get(name).map_or(ParameterValue::NotSet, |known| known.value.clone());
        GetParameters::Response { values: names.iter().map(|name| value(name).to_wire()).collect() }
    }

    fn types(&self, names: &[String]) -> GetParameterTypes::Response {
        let declared = lock(&self.parameters.declared);
        let type_of = |name: &String| declared.get(name).map_or(0, |known| known.value.type_id());
        GetParameterTypes::Response { types: names.iter().map(type_of).collect() }
    }

    fn described(&self, names: &[String]) -> DescribeParameters::Response {
        let declared = lock(&self.parameters.declared);
        let descriptors = names.iter().map(|name| descriptor(name, declared.get(name))).collect();
        DescribeParameters::Response { descriptors }
    }

    fn list(&self, asked: &ListParameters::Request) -> ListParameters::Response {
        let listed = lock(&self.parameters.declared).list(&asked.prefixes, asked.depth);
        let result = ListParametersResult { names: listed.names, prefixes: listed.prefixes };
        ListParameters::Response { result }
    }
}

impl Node {
    /// Offers the node's parameters on its parameter services and tells of changes on `/parameter_events`; once is enough.
    /// Call it within the tokio runtime. The services end with the node.
    ///
    /// Errors: [`RosError::Create`], [`RosError::Closed`].
    pub fn serve_parameters(&self) -> Result<(), RosError> {
        let task = serve(self)?;
        self.end_with_node(task);
        Ok(())
    }
}

/// Offers the services of `node` below its name, until the task is aborted.
fn serve(node: &Node) -> Result<AbortHandle, RosError> {
    let mut list = node.create_service::<ListParameters::Service>("~/list_parameters", QOS)?;
    let mut get = node.create_service::<GetParameters::Service>("~/get_parameters", QOS)?;
    let mut types = node.create_service::<GetParameterTypes::Service>("~/get_parameter_types", QOS)?;
    let mut describe = node.create_service::<DescribeParameters::Service>("~/describe_parameters", QOS)?;
    let mut set = node.create_service::<SetParameters::Service>("~/set_parameters", QOS)?;
    let mut set_all =
        node.create_service::<SetParametersAtomically::Service>("~/set_parameters_atomically", QOS)?;
    let answering = Answering {
        parameters: node.parameters().clone(),
        node: node.fully_qualified_name().to_owned(),
        clock: node.clock(),
        events: node.create_publisher("/parameter_events", QOS)?,
    };
    answering.publish_news();
    let task = tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(request) = list.next() => respond(request, |asked| answering.list(&asked)),
                Some(request) = get.next() => respond(request, |asked| answering.get(&asked.names)),
                Some(request) = types.next() => respond(request, |asked| answering.types(&asked.names)),
                Some(request) = describe.next() => respond(request, |asked| answering.described(&asked.names)),
                Some(request) = set.next() => respond(request, |asked| answering.set(asked)),
                Some(request) = set_all.next() => respond(request, |asked| answering.set_atomically(asked)),
                () = answering.parameters.news.notified() => answering.publish_news(),
            }
        }
    });
    Ok(task.abort_handle())
}
