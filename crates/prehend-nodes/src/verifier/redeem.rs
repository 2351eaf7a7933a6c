//! Permits redeemed, right before a motion.

use super::{INACTIVE, Verifier};
use crate::waiting::respond;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::RedeemPermit;
use prehend_ros::ServiceRequest;
use prehend_scene::PlanHash;
use prehend_verify::RedeemError;
use serde_json::json;

impl Verifier<'_> {
    /// Redeems a permit, or says why not.
    pub(super) fn redeem(&mut self, request: ServiceRequest<RedeemPermit::Service>) {
        let asked = &request.message;
        let now = self.now();
        let hash = PlanHash(asked.plan_hash.clone());
        let result = self.ledger.redeem(&asked.permit_id, &hash, asked.map_version, now);
        if result.is_ok() {
            self.desk.redeemed(&asked.permit_id);
        }
        let (error_code, error_message) = match &result {
            _ if !self.shell.is_active() => (ErrorCode::VERIFIER_REFUSED, INACTIVE.to_owned()),
            Ok(()) => (ErrorCode::SUCCESS, String::new()),
            Err(error) => (redeem_code(error), error.to_string()),
        };
        self.shell.trace.event(
            "",
            TraceEvent::KIND_PERMIT,
            "redeem",
            if error_code == ErrorCode::SUCCESS { "redeemed" } else { "refused" },
            if error_code == ErrorCode::SUCCESS {
                format!("permit {} redeemed", asked.permit_id)
            } else {
                error_message.clone()
            },
            json!({ "permit": asked.permit_id, "plan_hash": asked.plan_hash, "at": now }),
        );
        respond(request, RedeemPermit::Response { error_code, error_message });
    }
}

fn redeem_code(error: &RedeemError) -> i32 {
    match error {
        RedeemError::Unknown { .. } => ErrorCode::VERIFIER_PERMIT_UNKNOWN,
        RedeemError::Used { .. } => ErrorCode::VERIFIER_PERMIT_USED,
        RedeemError::Expired { .. } => ErrorCode::VERIFIER_PERMIT_EXPIRED,
        RedeemError::OtherPlan { .. } => ErrorCode::VERIFIER_PERMIT_OTHER_PLAN,
        RedeemError::StaleMap { .. } => ErrorCode::VERIFIER_PERMIT_STALE_MAP,
    }
}
