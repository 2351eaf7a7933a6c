//! Arguments of what is read of a bag or of topics.

use clap::Args;
use prehend_bags::{Options, Select, TopicNames};

/// What is read of a bag or of topics.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Bags and topics")]
pub struct BagArgs {
    /// Colour pictures [default: found by type and name]
    #[arg(long, value_name = "TOPIC")]
    pub color_topic: Option<String>,
    /// Depth pictures, aligned with colour [default: found by type and name]
    #[arg(long, value_name = "TOPIC")]
    pub depth_topic: Option<String>,
    /// Calibration of the colour camera [default: camera_info beside the colour pictures]
    #[arg(long, value_name = "TOPIC")]
    pub info_topic: Option<String>,
    /// Frame of the map, z up [default: the root of the camera's frames in tf]
    #[arg(long, value_name = "FRAME")]
    pub map_frame: Option<String>,
    /// Greatest difference between the stamps of colour and depth, seconds
    #[arg(long, value_name = "S", default_value_t = 0.017)]
    pub tolerance: f64,
    /// A keyframe when the camera has moved that far, metres
    #[arg(long, value_name = "M", default_value_t = 0.1)]
    pub move_m: f64,
    /// A keyframe when the camera has turned that far, degrees
    #[arg(long, value_name = "DEG", default_value_t = 10.0)]
    pub turn_deg: f64,
    /// Every Nth frame is a keyframe, whether the camera moves or not
    #[arg(long, value_name = "N", conflicts_with_all = ["move_m", "turn_deg"])]
    pub every: Option<usize>,
    /// Use what is before the damage of a bag that is cut off or broken
    #[arg(long)]
    pub partial: bool,
}

impl BagArgs {
    /// The same as the reader of bags has it.
    pub fn options(&self) -> Options {
        Options {
            topics: TopicNames {
                color: self.color_topic.clone(),
                depth: self.depth_topic.clone(),
                info: self.info_topic.clone(),
            },
            map_frame: self.map_frame.clone(),
            tolerance_ns: (self.tolerance.max(0.0) * 1e9) as i64,
            select: match self.every {
                Some(n) => Select::Every(n),
                None => Select::Motion { metres: self.move_m, radians: self.turn_deg.to_radians() },
            },
            partial: self.partial,
        }
    }
}
