//! Camera poses in `pose.json`.
//!
//! Accepted: a 4 x 4 matrix as four rows; `{"position": [x, y, z], "quaternion": [x, y, z, w]}`; or either of them under the key
//! `map_from_camera`. Metres; the map's z is up, the camera looks along its own z.

use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use serde::Deserialize;
use serde_json::Value;

/// Greatest departure of a rotation matrix or a quaternion's length from an exact one: what three written decimals leave.
const TOLERANCE: f64 = 5e-3;
/// Greatest distance of a camera from the map's origin, metres; beyond it the numbers are millimetres.
const FARTHEST: f64 = 500.0;

/// Why a pose cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PoseError {
    /// The text is not JSON.
    #[error("it is not JSON: {0}")]
    Json(String),
    /// None of the accepted forms.
    #[error(
        "expected four rows of a 4 x 4 matrix, or {{\"position\": [x, y, z], \"quaternion\": [x, y, z, w]}}, \
         or one of them under \"map_from_camera\""
    )]
    Form,
    /// A number that is not finite.
    #[error("it has a number that is not finite; leave the file out when the pose is not known")]
    NotFinite,
    /// The upper left 3 x 3 block is no rotation.
    #[error("its 3 x 3 block is not a rotation (off by {off:.3}): scaled, mirrored or sheared")]
    NotRigid {
        /// Greatest entry of R'R - 1, or 2 for a mirror.
        off: f64,
    },
    /// The last row is not 0 0 0 1: the matrix is no rigid transform, or stands transposed.
    #[error("its last row is not 0 0 0 1; is the matrix transposed?")]
    LastRow,
    /// The quaternion's length is not 1.
    #[error("its quaternion has the length {length:.3}, not 1")]
    Quaternion {
        /// The length.
        length: f64,
    },
    /// A translation no room has.
    #[error("the camera is {metres:.0} m from the map's origin; are these millimetres? Expected metres")]
    TooFar {
        /// Distance, metres.
        metres: f64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    position: [f64; 3],
    quaternion: [f64; 4],
    /// Name of the map frame, for people.
    #[serde(default, rename = "frame")]
    _frame: Option<String>,
}

/// Reads `map_from_camera`.
///
/// Errors: [`PoseError`].
pub fn parse(text: &str) -> Result<Isometry3<f64>, PoseError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        // Python writes NaN and Infinity, which JSON does not have.
        if text.contains("NaN") || text.contains("Infinity") {
            PoseError::NotFinite
        } else {
            PoseError::Json(error.to_string())
        }
    })?;
    let value = value.get("map_from_camera").unwrap_or(&value);
    if let Ok(rows) = <[[f64; 4]; 4]>::deserialize(value) {
        return from_matrix(&rows);
    }
    let parts = Parts::deserialize(value).map_err(|_| PoseError::Form)?;
    let [x, y, z, w] = parts.quaternion;
    let quaternion = Quaternion::new(w, x, y, z);
    if !parts.position.iter().all(|p| p.is_finite()) || !quaternion.norm().is_finite() {
        return Err(PoseError::NotFinite);
    }
    if (quaternion.norm() - 1.0).abs() > TOLERANCE {
        return Err(PoseError::Quaternion { length: quaternion.norm() });
    }
    placed(parts.position.into(), UnitQuaternion::from_quaternion(quaternion))
}

fn from_matrix(rows: &[[f64; 4]; 4]) -> Result<Isometry3<f64>, PoseError> {
    if !rows.iter().flatten().all(|x| x.is_finite()) {
        return Err(PoseError::NotFinite);
    }
    if (0..4).any(|column| (rows[3][column] - f64::from(column == 3)).abs() > TOLERANCE) {
        return Err(PoseError::LastRow);
    }
    let block = Matrix3::from_fn(|row, column| rows[row][column]);
    let off = if block.determinant() <= 0.0 {
        2.0
    } else {
        (block.transpose() * block - Matrix3::identity()).amax()
    };
    if off > TOLERANCE {
        return Err(PoseError::NotRigid { off });
    }
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix(&block));
    placed(Vector3::new(rows[0][3], rows[1][3], rows[2][3]), rotation)
}

fn placed(position: Vector3<f64>, rotation: UnitQuaternion<f64>) -> Result<Isometry3<f64>, PoseError> {
    if position.norm() > FARTHEST {
        return Err(PoseError::TooFar { metres: position.norm() });
    }
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_pose() {
        let rows = "[[0,-1,0,1],[1,0,0,2],[0,0,1,3],[0,0,0,1]]";
        let parts = r#"{"position": [1, 2, 3], "quaternion": [0, 0, 0.70710678, 0.70710678]}"#;
        let expected =
            Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::z() * std::f64::consts::FRAC_PI_2);
        for text in [rows, parts] {
            for text in [text.to_owned(), format!(r#"{{"map_from_camera": {text}}}"#)] {
                let pose = parse(&text).unwrap();
                assert!((pose.to_homogeneous() - expected.to_homogeneous()).amax() < 1e-6, "{text}: {pose}");
            }
        }
    }

    #[test]
    fn what_is_no_pose_is_refused_with_its_reason() {
        for (text, expected) in [
            ("[[1,0,0,0],[0,1,0,0],[0,0,1,NaN],[0,0,0,1]]", PoseError::NotFinite),
            ("[[1,0,0,0],[0,1,0,0],[0,0,-1,0],[0,0,0,1]]", PoseError::NotRigid { off: 2.0 }),
            ("[[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,1]]", PoseError::NotRigid { off: 3.0 }),
            ("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[5,6,7,1]]", PoseError::LastRow),
            ("[[1,0,0,900],[0,1,0,0],[0,0,1,0],[0,0,0,1]]", PoseError::TooFar { metres: 900.0 }),
            (r#"{"position":[0,0,0],"quaternion":[0,0,0,0]}"#, PoseError::Quaternion { length: 0.0 }),
            (r#"{"position":[0,0,0]}"#, PoseError::Form),
            ("[1,2,3]", PoseError::Form),
        ] {
            assert_eq!(parse(text), Err(expected), "{text}");
        }
        assert!(matches!(parse("[[1,0"), Err(PoseError::Json(_))));
    }
}
