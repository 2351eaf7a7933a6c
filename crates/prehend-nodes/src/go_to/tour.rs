//! A tour: stops from which all furniture is seen, each a keyframe of the map of the room (ASP III-D i). A visit is a tour of some places
//! only.

use super::fault::GoToFault;
use super::job::{Done, Job};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::UpdateMap;
use prehend_navigation::tour::{self, TourError, TourParams, plan};
use prehend_navigation::{Costmap, Footprint, Pose2};
use prehend_scene::{ObjectKey, Scope};
use std::time::Duration;

/// Poses of the arm from which the camera looks into the room, the best first.
const LEVEL_LOOKS: [&str; 2] = ["tour", "front"];
/// Most places of a visit.
const MOST_PLACES: usize = 100;
/// Longest wait for a keyframe's images, seconds.
const FRAME: f64 = 4.0;
/// How often a stop is tried.
const ROUNDS: usize = 2;
/// Deadline of a keyframe.
const UPDATE: Duration = Duration::from_secs(12);

impl Job<'_> {
    /// Drives the tour: the map of the room begins anew. Stops that cannot be reached are left
    /// out and counted; without any keyframe it failed.
    pub(super) async fn tour(&self) -> Result<Done, GoToFault> {
        let level = self.level_look();
        self.look(level).await?;
        let stops = self.stops(plan)?;
        let said = format!("looking round the room from {} places", stops.len());
        self.tell_places("tour", "started", &said, &stops);
        self.look_from(&stops, level, true).await
    }

    /// Looks at some places; what is seen joins the map of the room.
    pub(super) async fn visit(&self) -> Result<Done, GoToFault> {
        let places: Vec<[f64; 2]> = self.goal.places.iter().map(|place| [place.x, place.y]).collect();
        if places.is_empty() || places.len() > MOST_PLACES || !places.iter().flatten().all(|v| v.is_finite())
        {
            let message = format!("a visit takes 1 to {MOST_PLACES} finite places; it has {}", places.len());
            return Err(GoToFault::BadRequest(message));
        }
        let level = self.level_look();
        self.look(level).await?;
        let stops =
            self.stops(|map, footprint, start, params| tour::visit(map, footprint, start, params, &places))?;
        let said = format!("looking at {} remembered places from {} stops", places.len(), stops.len());
        self.tell_places("visit", "started", &said, &stops);
        self.look_from(&stops, level, false).await
    }

    /// Takes a keyframe from each stop. What is in the way of a stop may have gone, or be behind, when the others are done: those that
    /// were left out are tried once more, the last first.
    async fn look_from(&self, stops: &[Pose2], level: &str, anew: bool) -> Result<Done, GoToFault> {
        let kind = self.goal.kind.as_str();
        let mut done = Done::default();
        let mut why = None;
        let mut left: Vec<usize> = (0..stops.len()).collect();
        for round in 0..ROUNDS {
            let mut missed = Vec::new();
            for number in left {
                let place = format!("place {} of {}", number + 1, stops.len());
                let view = format!("{kind}_{}", number + 1);
                match self.look_at_stop(&stops[number], level, &view, anew, &mut done).await {
                    Ok(()) => self.tell(kind, "seen", &format!("{place}: seen")),
                    Err(fault) if fault.ends_a_tour() && !matches!(fault, GoToFault::NothingSeen(_)) => {
                        return Err(fault);
                    }
                    Err(fault) => {
                        let next = if round + 1 < ROUNDS { "left for later" } else { "left out" };
                        self.tell(kind, fault.reason().code(), &format!("{place} is {next}: {fault}"));
                        missed.push(number);
                        why.get_or_insert(fault);
                    }
                }
            }
            left = missed;
            left.reverse();
        }
        if done.keyframes == 0 {
            let why = why.map_or_else(|| "no place to look from".to_owned(), |fault| fault.to_string());
            return Err(GoToFault::NothingSeen(why));
        }
        done.missed = u32::try_from(left.len()).unwrap_or(u32::MAX);
        Ok(done)
    }

    /// Drives to one stop and takes a keyframe there.
    async fn look_at_stop(
        &self,
        stop: &Pose2,
        level: &str,
        view: &str,
        anew: bool,
        done: &mut Done,
    ) -> Result<(), GoToFault> {
        self.fold().await?;
        self.drive(stop, &ObjectKey::default(), 0).await?;
        done.moved = true;
        self.look(level).await?;
        done.map_version = self.interrupt.guard(self.keyframe(view, anew && done.keyframes == 0)).await?;
        done.keyframes += 1;
        Ok(())
    }

    /// The arm's pose from which the camera looks ahead into the room.
    fn level_look(&self) -> &'static str {
        let looks = &self.node.shell.robot.looks;
        LEVEL_LOOKS.into_iter().find(|wanted| looks.iter().any(|(name, _)| name == wanted)).unwrap_or("home")
    }

    /// Where to look from, by what the camera sees from where the arm holds it now.
    fn stops(
        &self,
        plan: impl Fn(&Costmap, &Footprint, &Pose2, &TourParams) -> Result<Vec<Pose2>, TourError>,
    ) -> Result<Vec<Pose2>, GoToFault> {
        let ground = &self.node.ground;
        let (map, base) = (ground.costmap()?, ground.base()?);
        let navigation = ground.navigation();
        let mut params = TourParams { camera_yaw: navigation.facing, ..TourParams::default() };
        let optical = &self.node.shell.robot.frames.camera;
        if let Some(camera) = ground.between(&navigation.base, optical) {
            params.camera = [camera.translation.x, camera.translation.y];
        }
        if let Some(info) = self.node.camera.borrow().as_ref() {
            let focal = info.k[0];
            if focal.is_finite() && focal > 1.0 {
                params.field_of_view = 2.0 * (f64::from(info.width) / (2.0 * focal)).atan();
            }
        }
        plan(&map, &navigation.footprint, &base, &params)
            .map_err(|error| GoToFault::NothingSeen(error.to_string()))
    }

    /// One keyframe; the version of the map with it.
    async fn keyframe(&self, view: &str, first: bool) -> Result<u64, GoToFault> {
        let request = UpdateMap::Request {
            reset: first,
            view: view.to_owned(),
            timeout: FRAME,
            scope: Scope::Room.name().to_owned(),
            gripped: String::new(),
        };
        let answer = self
            .node
            .update
            .request(request, UPDATE)
            .await
            .map_err(|error| GoToFault::PeerLost(format!("object_map ({error})")))?;
        match answer.error_code {
            ErrorCode::SUCCESS => Ok(answer.version),
            _ => Err(GoToFault::NothingSeen(answer.error_message)),
        }
    }
}
