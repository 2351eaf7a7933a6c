//! Answers of the object_map node, from the map alone.

use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::{GetObject, RetrieveObjects, UpdateMap};
use prehend_perception::Retrieval;
use prehend_scene::ObjectMap;

/// Longest query text.
const MAX_QUERY: usize = 500;

/// Nothing is mapped while the node is not active.
pub(super) fn inactive() -> UpdateMap::Response {
    UpdateMap::Response {
        error_code: ErrorCode::MAP_BAD_REQUEST,
        error_message: "object_map is not active".to_owned(),
        ..Default::default()
    }
}

/// Why a retrieval on this map is refused; `None` when it is not.
pub(super) fn refusal(
    map: &ObjectMap,
    request: &RetrieveObjects::Request,
) -> Option<RetrieveObjects::Response> {
    let refuse = |error_code, message: String| {
        Some(RetrieveObjects::Response {
            error_code,
            error_message: message,
            map_version: map.version,
            ..Default::default()
        })
    };
    let length = request.query.trim().chars().count();
    if length == 0 || length > MAX_QUERY {
        return refuse(
            ErrorCode::MAP_BAD_REQUEST,
            format!("the query must have 1 to {MAX_QUERY} characters, it has {length}"),
        );
    }
    if map.version == 0 {
        return refuse(ErrorCode::MAP_NOTHING_SEEN, "nothing was mapped yet: call update first".to_owned());
    }
    None
}

/// What a retrieval found on the map of this version.
pub(super) fn retrieval(found: &Retrieval, map_version: u64) -> RetrieveObjects::Response {
    RetrieveObjects::Response {
        keys: found.matches.iter().map(|m| m.key.0.clone()).collect(),
        scores: found.matches.iter().map(|m| m.similarity as f32).collect(),
        rejected_keys: found.rejected.iter().map(|r| r.key.0.clone()).collect(),
        rejected_reasons: found
            .rejected
            .iter()
            .map(|r| format!("{} (similarity {:.2})", r.reason, r.similarity))
            .collect(),
        doubtful_keys: found.doubtful.iter().map(|key| key.0.clone()).collect(),
        map_version,
        ..Default::default()
    }
}

/// What is answered to a scope that is none.
pub(super) fn bad_scope(scope: &str) -> GetObject::Response {
    GetObject::Response {
        error_code: ErrorCode::MAP_BAD_REQUEST,
        error_message: no_scope(scope),
        ..Default::default()
    }
}

/// As [`bad_scope`], to a retrieval.
pub(super) fn bad_retrieval_scope(scope: &str) -> RetrieveObjects::Response {
    RetrieveObjects::Response {
        error_code: ErrorCode::MAP_BAD_REQUEST,
        error_message: no_scope(scope),
        ..Default::default()
    }
}

/// The words for a scope that is none.
pub(super) fn no_scope(scope: &str) -> String {
    format!("no scope `{}`; use local or room", scope.chars().take(40).collect::<String>())
}

/// One object, with its best views when asked for.
pub(super) fn get_object(map: &ObjectMap, request: &GetObject::Request) -> GetObject::Response {
    let key = request.key.as_str().into();
    let Some(object) = map.get(&key) else {
        let near = prehend_config::nearest(&request.key, map.objects.iter().map(|o| o.key.0.as_str()));
        let hint = near.map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
        return GetObject::Response {
            error_code: ErrorCode::MAP_UNKNOWN_KEY,
            error_message: format!(
                "no object `{}` among {} of map version {}{hint}",
                request.key.chars().take(80).collect::<String>(),
                map.objects.len(),
                map.version
            ),
            map_version: map.version,
            ..Default::default()
        };
    };
    let mut response = GetObject::Response {
        object: convert::object_to_msg(object, &map.frame),
        map_version: map.version,
        ..Default::default()
    };
    if !request.with_crops {
        return response;
    }
    for crop in &object.crops {
        response.rgb_crops.push(convert::color_image_to_msg(&crop.color, &crop.view, crop.stamp));
        response.depth_crops.push(convert::depth_image_to_msg(&crop.depth, &crop.view, crop.stamp));
        response.masks.push(convert::mask_to_msg(&crop.mask));
        response.views.push(crop.view.clone());
        response.producers.push(crop.producer.clone());
        response.labels.push(crop.label.clone());
        response.scores.push(crop.score as f32);
        response.stamps.push(convert::stamp(crop.stamp));
        response.map_from_camera.push(convert::pose_to_msg(&crop.map_from_camera));
        // The place of the crop in the whole image is its region of interest.
        let mut info = convert::intrinsics_to_msg(&crop.intrinsics, &crop.view, crop.stamp);
        info.roi.x_offset = crop.x as u32;
        info.roi.y_offset = crop.y as u32;
        info.roi.width = crop.color.width as u32;
        info.roi.height = crop.color.height as u32;
        response.camera_info.push(info);
    }
    response
}
