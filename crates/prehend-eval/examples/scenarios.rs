//! Prints scenarios: `cargo run -p prehend-eval --example scenarios [-- FIRST COUNT [scene]]`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use prehend_eval::tabletop;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (first, count) = (number(0, 0)?, number(1, 20)?);
    for seed in first..first + count {
        let scenario = tabletop(seed)?;
        println!("{seed:>8}  {:<10}  {}", scenario.kind.code(), scenario.sentence);
        println!("{:>21} {}", "", serde_json::to_string(&scenario.spec.expected)?);
        if arguments.get(2).is_some_and(|word| word == "scene") {
            println!("{}", scenario.scene_yaml);
        }
    }
    Ok(())
}
