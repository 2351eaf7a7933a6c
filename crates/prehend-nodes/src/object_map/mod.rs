//! The object_map node: takes keyframes into the map, answers what is on it, publishes it (ASP III-A, IV-A, IV-C).
//!
//! An update uses a frame that is newer than its request and was taken while the camera was at rest.

mod answer;
mod base;
mod confirm;
mod failure;
mod frames;
mod keyframe;
mod models;
mod poses;
mod publish;
mod retrieval;
mod settings;
mod take;
mod update;

use crate::waiting::{next_of, respond};
use confirm::Model;
use frames::{FrameMessage, Joiner};
use futures::StreamExt;
use keyframe::SelfFilter;
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::ObjectMap as ObjectMapMsg;
use prehend_msgs::prehend_interfaces::srv::{GetObject, RetrieveObjects, UpdateMap};
use prehend_msgs::sensor_msgs::msg::PointCloud2;
use prehend_msgs::std_msgs::msg::Header;
use prehend_msgs::visualization_msgs::msg::MarkerArray;
use prehend_perception::{
    ImageTurn, Lexicon, MapBuilder, MapSettings, Recall, RoomBuilder, RoomSettings, Sight,
};
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{Live, Publisher, QosProfile, ServiceRequest, Subscription, TfBuffer};
use prehend_scene::{Object, ObjectMap, Scope};
use publish::Display;
use settings::Settings;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use update::Pending;

/// How often waiting requests are looked at again.
const TICK: Duration = Duration::from_millis(30);

/// Messages of a camera's topic that wait in a replay: nothing is passed over there.
const REPLAYED: usize = 20;

/// The map of the room of a robot that has none.
static NO_ROOM: ObjectMap =
    ObjectMap { frame: String::new(), version: 0, stamp: 0.0, objects: Vec::new(), support_plane: None };

/// Frames an update takes when no parameter says otherwise: a detector that errs in one frame is outvoted.
const DEFAULT_FRAMES: i64 = 3;

enum Event {
    FrameMessage(FrameMessage),
    Update(ServiceRequest<UpdateMap::Service>),
    Retrieve(ServiceRequest<RetrieveObjects::Service>),
    GetObject(ServiceRequest<GetObject::Service>),
    InHand(ObjectMapMsg),
    Tick,
    Shutdown,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("object_map", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let mut node = ObjectMapNode::new(&shell).await?;
    let robot = &shell.robot;
    let sensor = node.sensor;
    let mut color = shell.node.subscribe(&robot.camera.color, sensor)?;
    let mut depth = shell.node.subscribe(&robot.camera.depth, sensor)?;
    let mut info = shell.node.subscribe(&robot.camera.info, sensor)?;
    // Where models look there is no detector to wait for, nor its parts.
    let detector = Some(&robot.detector).filter(|_| node.sight.is_none());
    let mut labels = subscribe(&shell, sensor, detector.map(|topics| topics.label_image.as_str()))?;
    let mut detections = subscribe(&shell, sensor, detector.map(|topics| topics.detections.as_str()))?;
    let mut in_hand = shell.node.subscribe::<ObjectMapMsg>(names::IN_HAND, QosProfile::transient_local())?;
    let parts = detector.and_then(|topics| topics.parts.as_ref());
    let mut part_labels = subscribe(&shell, sensor, parts.map(|topics| topics.label_image.as_str()))?;
    let mut part_detections = subscribe(&shell, sensor, parts.map(|topics| topics.detections.as_str()))?;
    let services = QosProfile::services();
    let mut update = shell.node.create_service::<UpdateMap::Service>(names::OBJECT_MAP_UPDATE, services)?;
    let mut retrieve =
        shell.node.create_service::<RetrieveObjects::Service>(names::OBJECT_MAP_RETRIEVE, services)?;
    let mut get_object =
        shell.node.create_service::<GetObject::Service>(names::OBJECT_MAP_GET_OBJECT, services)?;
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(message) = color.next() => Event::FrameMessage(FrameMessage::Color(message)),
            Some(message) = depth.next() => Event::FrameMessage(FrameMessage::Depth(message)),
            Some(message) = info.next() => Event::FrameMessage(FrameMessage::Info(message)),
            Some(message) = next_of(&mut labels) => Event::FrameMessage(FrameMessage::Labels(message)),
            Some(message) = next_of(&mut detections) => Event::FrameMessage(FrameMessage::Detections(message)),
            Some(message) = next_of(&mut part_labels) => Event::FrameMessage(FrameMessage::RegionLabels(message)),
            Some(message) = next_of(&mut part_detections) => Event::FrameMessage(FrameMessage::RegionDetections(message)),
            Some(request) = update.next() => Event::Update(request),
            Some(request) = retrieve.next() => Event::Retrieve(request),
            Some(request) = get_object.next() => Event::GetObject(request),
            Some(message) = in_hand.next() => Event::InHand(message),
            _ = tick.tick() => Event::Tick,
        };
        match event {
            Event::FrameMessage(part) => {
                if let Some(frame) = node.joiner.take(part) {
                    node.newest = Some(frame);
                }
            }
            Event::Update(request) if !shell.is_active() => respond(request, answer::inactive()),
            Event::Update(request) => {
                let since = shell.node.now();
                node.waiting.push(Pending::new(request, since, node.joiner.heard));
            }
            Event::Retrieve(request) => node.retrieve(request),
            Event::GetObject(request) => {
                let response = match Scope::parse(&request.message.scope) {
                    Some(scope) => answer::get_object(node.map_of(scope), &request.message),
                    None => answer::bad_scope(&request.message.scope),
                };
                respond(request, response);
            }
            Event::InHand(message) => node.take_in_hand(&message),
            Event::Tick => {
                node.leave_place();
                node.serve_updates().await;
                node.show();
            }
            Event::Shutdown => return Ok(()),
        }
    }
}

/// A subscription to a topic of a camera or detector, if there is one.
fn subscribe<M: prehend_msgs::Message>(
    shell: &Shell,
    qos: QosProfile,
    topic: Option<&str>,
) -> Result<Option<Subscription<M>>, NodeError> {
    let subscribed = topic.map(|topic| shell.node.subscribe(topic, qos));
    Ok(subscribed.transpose()?)
}

fn image_turn(text: &str) -> Result<ImageTurn, NodeError> {
    Ok(match text {
        "none" => ImageTurn::None,
        "clockwise" => ImageTurn::Clockwise,
        "around" => ImageTurn::Around,
        "counterclockwise" => ImageTurn::Counterclockwise,
        other => {
            let reason =
                format!("parameter `image_turn` is `{other}`; none, clockwise, around or counterclockwise");
            return Err(NodeError::Start { node: "object_map", reason });
        }
    })
}

/// The map of the room and its topic.
struct Room {
    builder: RoomBuilder,
    map: Publisher<ObjectMapMsg>,
}

struct ObjectMapNode<'a> {
    shell: &'a Shell,
    builder: MapBuilder,
    /// The map of the room, on a robot that drives.
    room: Option<Room>,
    /// Where the base stood when the local map began, frame of the odometry.
    stood: Option<Isometry3<f64>>,
    /// What of the room was recognised from there.
    recall: Recall,
    lexicon: Lexicon,
    /// Confirms retrievals; without one the built-in confirm does.
    model: Option<Model>,
    /// What looks at the images; without it a detector on the graph has labelled them.
    sight: Option<Sight>,
    joiner: Joiner,
    /// How cameras and detectors are heard.
    sensor: QosProfile,
    /// How the camera's pictures are turned to stand upright.
    turn: ImageTurn,
    /// In a replay, the stamp of the last frame of each scope: none is taken twice, however the clock came.
    replayed: Option<HashMap<Scope, i64>>,
    newest: Option<frames::Frame>,
    waiting: Vec<Pending>,
    /// What the skills hold: it is spoken of like what is on the map.
    in_hand: Vec<Object>,
    tf: TfBuffer,
    self_filter: SelfFilter,
    /// Frames of one view that vote on what a thing is called and whether it is there.
    frames_per_update: Live<i64>,
    /// Tells which frame was taken.
    taken: Publisher<Header>,
    map: Publisher<ObjectMapMsg>,
    markers: Display<MarkerArray>,
    points: Display<PointCloud2>,
}

impl<'a> ObjectMapNode<'a> {
    async fn new(shell: &'a Shell) -> Result<Self, NodeError> {
        let parameters = shell.node.parameters();
        let words = parameters.string_or("synonyms", "config/language/synonyms.yaml")?;
        let settings = parameters.string_or("settings", "config/nodes/object_map.yaml")?;
        let self_filter = SelfFilter::read(parameters)?;
        let text = "Frames of one view that vote on what a thing is called and whether it is there.";
        let frames_per_update = parameters.live_i64("frames_per_update", DEFAULT_FRAMES, 1..=30, text)?;
        let is_replay = parameters.bool_or("replay", false)?;
        let text = "The frames are those of a recording: none may be lost, each is taken once, with the parts that were seen in it.";
        parameters.describe("replay", text);
        let turn = image_turn(&parameters.string_or("image_turn", "none")?)?;
        let text = "How the camera's pictures are turned to stand upright: none, clockwise, around, counterclockwise.";
        parameters.describe("image_turn", text);
        parameters.describe("synonyms", "File of names that mean the same.");
        parameters.describe("settings", "File that says which models look and which one confirms.");
        parameters.finish()?;
        let lexicon = Lexicon::load(&prehend_config::share::resolve(Path::new(&words)))?;
        let settings = Settings::read(&prehend_config::share::resolve(Path::new(&settings)))?;
        let mapping = MapSettings { merge: settings.merge, ..MapSettings::on_robot(settings.cut) };
        let sight = models::sight(settings.models).await?;
        let model = Model::new(settings.vlm)?;
        let embedder =
            || Box::new(sight.as_ref().map_or_else(|| Sight::default().embedder(), Sight::embedder));
        let has_parts = sight.is_none() && shell.robot.detector.parts.is_some();
        let joiner = Joiner::new(sight.is_none());
        let latched = QosProfile::transient_local();
        let room = match &shell.robot.navigation {
            Some(navigation) => Some(Room {
                builder: RoomBuilder::with_embedder(&navigation.frame, RoomSettings::default(), embedder()),
                map: shell.node.create_publisher(names::ROOM_MAP, latched)?,
            }),
            None => None,
        };
        Ok(Self {
            shell,
            room,
            stood: None,
            builder: MapBuilder::with_embedder(&shell.robot.frames.base, mapping, embedder()),
            lexicon,
            model,
            joiner: if is_replay && has_parts { joiner.with_parts() } else { joiner },
            sensor: if is_replay { QosProfile::default().depth(REPLAYED) } else { QosProfile::sensor_data() },
            replayed: is_replay.then(HashMap::new),
            turn,
            sight,
            newest: None,
            waiting: Vec::new(),
            in_hand: Vec::new(),
            recall: Recall::default(),
            tf: shell.node.tf()?,
            self_filter,
            frames_per_update,
            taken: shell.node.create_publisher(names::OBJECT_MAP_FRAME, QosProfile::default())?,
            map: shell.node.create_publisher(names::OBJECT_MAP, latched)?,
            markers: Display::new(shell.node.create_publisher(names::OBJECT_MAP_MARKERS, latched)?),
            points: Display::new(shell.node.create_publisher(names::OBJECT_MAP_POINTS, latched)?),
        })
    }

    /// One of the two maps; that of the room is empty on a fixed arm.
    fn map_of(&self, scope: Scope) -> &ObjectMap {
        match (scope, &self.room) {
            (Scope::Room, Some(room)) => room.builder.map(),
            (Scope::Room, None) => &NO_ROOM,
            (Scope::Local, _) => self.builder.map(),
        }
    }

    fn take_in_hand(&mut self, message: &ObjectMapMsg) {
        match convert::map_from_msg(message) {
            Ok(in_hand) => {
                in_hand.objects.iter().for_each(|object| self.builder.reserve(&object.key));
                self.in_hand = in_hand.objects;
            }
            Err(error) => tracing::warn!("what is in the hand was not understood: {error}"),
        }
    }
}
