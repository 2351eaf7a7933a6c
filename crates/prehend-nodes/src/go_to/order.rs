//! What a goal of `go_to` asks for.

use prehend_execution::errand::{Errand, ErrandFault};
use prehend_msgs::geometry_msgs::msg::Pose2D;
use prehend_msgs::prehend_interfaces::action::GoTo;
use prehend_navigation::Pose2;
use prehend_scene::ObjectKey;

/// A goal as an errand.
///
/// Errors: [`ErrandFault::BadRequest`].
pub(super) fn read(goal: &GoTo::Goal) -> Result<Errand, ErrandFault> {
    if goal.plan_only && goal.kind != "object" {
        return Err(ErrandFault::BadRequest("only a drive to an object can be planned alone".to_owned()));
    }
    match goal.kind.as_str() {
        "object" => Ok(Errand::Object { key: ObjectKey(goal.object_key.clone()), plan_only: goal.plan_only }),
        "pose" => {
            let Pose2D { x, y, theta } = goal.pose;
            Ok(Errand::Pose(Pose2::new(x, y, theta)))
        }
        "tour" => Ok(Errand::Tour),
        "visit" => Ok(Errand::Visit(goal.places.iter().map(|place| [place.x, place.y]).collect())),
        other => {
            let kind = other.chars().take(40).collect::<String>();
            Err(ErrandFault::BadRequest(format!("kind `{kind}` is none of object, pose, tour, visit")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::geometry_msgs::msg::Point;

    fn goal(kind: &str) -> GoTo::Goal {
        GoTo::Goal {
            kind: kind.to_owned(),
            object_key: "room_cup_0".to_owned(),
            pose: Pose2D { x: 1.0, y: 2.0, theta: 0.5 },
            places: vec![Point { x: 3.0, y: 4.0, z: 0.7 }],
            ..Default::default()
        }
    }

    #[test]
    fn each_kind_is_its_errand() {
        let object = |plan_only| Errand::Object { key: "room_cup_0".into(), plan_only };
        for (kind, errand) in [
            ("object", object(false)),
            ("pose", Errand::Pose(Pose2::new(1.0, 2.0, 0.5))),
            ("tour", Errand::Tour),
            ("visit", Errand::Visit(vec![[3.0, 4.0]])),
        ] {
            assert_eq!(read(&goal(kind)), Ok(errand));
            let planned = read(&GoTo::Goal { plan_only: true, ..goal(kind) });
            match kind {
                "object" => assert_eq!(planned, Ok(object(true))),
                _ => assert!(matches!(planned, Err(ErrandFault::BadRequest(_))), "{kind}: {planned:?}"),
            }
        }
        let fault = read(&goal(&"dance".repeat(20))).expect_err("no errand");
        assert!(fault.to_string().contains(&format!("`{}`", "dance".repeat(8))), "{fault}");
    }
}
