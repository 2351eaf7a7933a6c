#![allow(clippy::all, missing_docs, clippy::print_stdout)]
use prehend_eval::cabinet::{Figures, Settings, measure};
use prehend_perception::{Cut, MapSettings};
use prehend_sim::world::ArmModel;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string("/work/main/urdf/xarm6.urdf").unwrap();
    let arm = ArmModel::from_urdf(&text).unwrap();
    let map = MapSettings::on_robot(Cut::Surfaces);
    let mut sum = Figures::default();
    for seed in
        args[2].parse::<u64>().unwrap()..args[2].parse::<u64>().unwrap() + args[3].parse::<u64>().unwrap()
    {
        let f = measure(
            &arm,
            std::path::Path::new("/work/main/config/scenes"),
            map,
            &Settings { model: args[1].clone(), moves: 40, fresh: true, seed },
        )
        .unwrap();
        println!("{} {seed}: {f:?}", args[1]);
        sum = sum.plus(f);
    }
    println!("{sum:?}");
}
