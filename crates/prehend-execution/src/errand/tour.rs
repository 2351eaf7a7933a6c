//! A tour: stops from which all furniture is seen, each a keyframe of the map of the room (ASP III-D i). A visit is a tour of some places
//! only.

use super::base::Base;
use super::fault::ErrandFault;
use super::{Course, Done};
use crate::view::HOME;
use prehend_navigation::tour::{self, TourError, TourParams, plan};
use prehend_navigation::{Costmap, Footprint, Pose2};
use prehend_scene::ObjectKey;

/// What is told, and the views are called by.
const TOUR: &str = "tour";
const VISIT: &str = "visit";
/// Poses of the arm from which the camera looks into the room, the best first.
const LEVEL_LOOKS: [&str; 2] = ["tour", "front"];
/// Most places of a visit.
const MOST_PLACES: usize = 100;
/// How often a stop is tried.
const ROUNDS: usize = 2;

impl<B: Base> Course<'_, B> {
    /// Drives the tour: the map of the room begins anew. Stops that cannot be reached are left
    /// out and counted; without any keyframe it failed.
    pub(super) fn tour(&self) -> Result<Done, ErrandFault> {
        let level = self.level_look();
        self.base.look(level)?;
        let stops = self.stops(plan)?;
        let said = format!("looking round the room from {} places", stops.len());
        self.base.tell(TOUR, "started", &said, &stops);
        self.look_from(TOUR, &stops, level)
    }

    /// Looks at some places; what is seen joins the map of the room.
    pub(super) fn visit(&self, places: &[[f64; 2]]) -> Result<Done, ErrandFault> {
        if places.is_empty() || places.len() > MOST_PLACES || !places.iter().flatten().all(|v| v.is_finite())
        {
            let message = format!("a visit takes 1 to {MOST_PLACES} finite places; it has {}", places.len());
            return Err(ErrandFault::BadRequest(message));
        }
        let level = self.level_look();
        self.base.look(level)?;
        let stops =
            self.stops(|map, footprint, start, params| tour::visit(map, footprint, start, params, places))?;
        let said = format!("looking at {} remembered places from {} stops", places.len(), stops.len());
        self.base.tell(VISIT, "started", &said, &stops);
        self.look_from(VISIT, &stops, level)
    }

    /// Takes a keyframe from each stop. What is in the way of a stop may have gone, or be behind, when the others are done: those that
    /// were left out are tried once more, the last first.
    fn look_from(&self, kind: &str, stops: &[Pose2], level: &str) -> Result<Done, ErrandFault> {
        let mut done = Done::default();
        let mut why = None;
        let mut left: Vec<usize> = (0..stops.len()).collect();
        for round in 0..ROUNDS {
            let mut missed = Vec::new();
            for number in left {
                let place = format!("place {} of {}", number + 1, stops.len());
                let view = format!("{kind}_{}", number + 1);
                match self.look_at_stop(&stops[number], level, &view, kind == TOUR, &mut done) {
                    Ok(()) => self.tell(kind, "seen", &format!("{place}: seen")),
                    Err(fault) if fault.ends_a_tour() => return Err(fault),
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
            return Err(ErrandFault::NothingSeen(why));
        }
        done.missed = u32::try_from(left.len()).unwrap_or(u32::MAX);
        Ok(done)
    }

    /// Drives to one stop and takes a keyframe there.
    fn look_at_stop(
        &self,
        stop: &Pose2,
        level: &str,
        view: &str,
        anew: bool,
        done: &mut Done,
    ) -> Result<(), ErrandFault> {
        self.fold_and_drive(stop, &ObjectKey::default(), 0)?;
        done.moved = true;
        self.base.look(level)?;
        done.map_version = self.base.keyframe(view, anew && done.keyframes == 0)?;
        done.keyframes += 1;
        Ok(())
    }

    /// The arm's pose from which the camera looks ahead into the room.
    fn level_look(&self) -> &'static str {
        let looks = &self.base.chassis().looks;
        LEVEL_LOOKS.into_iter().find(|wanted| looks.iter().any(|name| name == wanted)).unwrap_or(HOME)
    }

    /// Where to look from, by what the camera sees from where the arm holds it now.
    fn stops(
        &self,
        plan: impl Fn(&Costmap, &Footprint, &Pose2, &TourParams) -> Result<Vec<Pose2>, TourError>,
    ) -> Result<Vec<Pose2>, ErrandFault> {
        let (map, base) = (self.base.costmap()?, self.base.pose()?);
        let (chassis, lens) = (self.base.chassis(), self.base.lens());
        let usual = TourParams::default();
        let params = TourParams {
            camera: lens.place.unwrap_or(usual.camera),
            camera_yaw: chassis.facing,
            field_of_view: lens.field_of_view.unwrap_or(usual.field_of_view),
            ..usual
        };
        plan(&map, &chassis.footprint, &base, &params)
            .map_err(|error| ErrandFault::NothingSeen(error.to_string()))
    }
}
