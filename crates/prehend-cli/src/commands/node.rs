//! `prehend node`: one node of the graph in this process.

use crate::args::NodeArgs;
use crate::outcome::exit;
use prehend_robots::NodeOptions;

pub(super) async fn run(args: NodeArgs) -> u8 {
    let arguments = match args.ros.arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    let options = NodeOptions {
        robot: args.robot,
        scene: args.scene,
        seed: args.seed,
        speed: args.speed,
        params_files: args.params_file,
        overrides: args.params,
        arguments,
        use_sim_time: !args.wall_time,
        watch_stdin: args.supervised,
    };
    match crate::node::run(args.name, options).await {
        Ok(()) => exit::DONE,
        Err(error) => {
            tracing::error!("{}: {error}", args.name.name());
            exit::FAILED
        }
    }
}
