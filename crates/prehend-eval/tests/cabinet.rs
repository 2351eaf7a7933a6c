//! The judge of cabinets runs on the real sensors and map, and says no when there is nothing to judge.

use prehend_eval::cabinet::{Settings, measure};
use prehend_sim::world::ArmModel;
use std::path::Path;

fn run(model: &str, moves: usize, fresh: bool) -> Result<prehend_eval::cabinet::Figures, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let urdf = std::fs::read_to_string(root.join("urdf/xarm6.urdf")).expect("urdf");
    let arm = ArmModel::from_urdf(&urdf).expect("arm");
    let settings = Settings { model: model.to_owned(), moves, fresh, seed: 7 };
    measure(&arm, &root.join("config/scenes"), Default::default(), &settings)
}

#[test]
fn most_drawers_of_a_cabinet_are_one_object_each() {
    let figures = run("drawer_cabinet", 5, false).expect("a cabinet");
    assert!(figures.drawers >= 5 && figures.states <= figures.single, "{figures:?}");
    assert!(5 * figures.single >= 4 * figures.drawers, "{figures:?}");
    assert!(figures.same_key <= figures.met_again && figures.whole <= figures.moves, "{figures:?}");
}

#[test]
fn a_map_that_begins_anew_has_met_nothing_before() {
    let figures = run("drawer_cabinet", 3, true).expect("a cabinet");
    assert!(figures.drawers >= 3 && figures.single > 0, "{figures:?}");
    assert_eq!(figures.met_again, 0, "{figures:?}");
}

#[test]
fn what_has_no_drawers_or_does_not_exist_is_refused_in_words() {
    let refused = |model: &str| run(model, 1, false).expect_err("no cabinet");
    assert!(refused("desk_bell").contains("has no drawers"), "{}", refused("desk_bell"));
    assert!(refused("draw_cabinet").contains("drawer_cabinet"), "{}", refused("draw_cabinet"));
}
