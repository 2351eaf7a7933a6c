//! Arguments of `init`, `completions` and `man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

const AFTER_INIT: &str = "\
Examples:
  prehend init arm/ --robot xarm6          then edit arm/robot.yaml, as arm/README.md says
  prehend up --robot arm/robot.yaml --scene arm/scene.yaml
  prehend init rover/ --robot ranger_xarm6 --scene config/scenes/room_office.yaml

The folder has a robot file, its URDF, a scene, settings of nodes, and a README that says what to change.";

/// Arguments of `init`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_INIT)]
pub struct InitArgs {
    /// The folder to make
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Robot file to begin from, or a name in config/robots
    #[arg(long, value_name = "FILE", default_value = super::DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Scene file to begin from [default: a table, or a room for a robot that drives]
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}

const AFTER_COMPLETIONS: &str = "\
Examples:
  prehend completions bash > ~/.local/share/bash-completion/completions/prehend
  prehend completions zsh > ~/.zfunc/_prehend            with ~/.zfunc in fpath, before compinit
  prehend completions fish > ~/.config/fish/completions/prehend.fish";

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_COMPLETIONS)]
pub struct CompletionsArgs {
    /// Your shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

const AFTER_MAN: &str = "\
Example:
  prehend man --out ~/.local/share/man/man1 && man prehend-demo";

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_MAN)]
pub struct ManArgs {
    /// Folder for the pages: prehend.1, and one for each command
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}
