//! Goals of a day on tables that seeds give.

use super::*;
use prehend_sim::world::World;
use std::collections::BTreeMap;

pub(super) fn truth(seed: u64) -> Truth {
    let placed = tabletop(seed).unwrap().placed().unwrap();
    let urdf = include_str!("../../../../urdf/xarm6.urdf");
    let arm = prehend_sim::world::ArmModel::from_urdf(urdf).unwrap();
    World::new(&placed, &arm, &[0.0, -0.8, -0.6, 0.0, 1.4, 0.0]).unwrap().truth()
}

#[test]
fn goals_mean_what_they_say_and_are_not_so_already() {
    let words = Vocabulary::built_in().unwrap();
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for seed in 0..30 {
        let truth = truth(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..20 {
            let Some(goal) = next_goal(&mut rng, &truth, &words) else { continue };
            *kinds.entry(goal.kind).or_default() += 1;
            assert_eq!(goal.spec, ground(&goal.sentence, &truth, &words), "{}", goal.sentence);
            if let Expected::World(wanted) = &goal.spec.expected {
                let so = wanted.iter().any(|wanted| holds(wanted, &truth, &truth).unwrap());
                assert!(!so, "{} is so already", goal.sentence);
            }
        }
    }
    for kind in [Kind::Container, Kind::Placement, Kind::TwoStep, Kind::Question, Kind::Impossible] {
        assert!(kinds.get(&kind).is_some_and(|n| *n > 10), "{kind} in {kinds:?}");
    }
}

#[test]
fn what_fell_is_put_back_where_there_is_room() {
    let mut truth = truth(3);
    let index = truth.objects.iter().position(|o| !o.fixed && o.half_extents[0] < 0.05).unwrap();
    truth.objects[index].fallen = true;
    truth.objects[index].position = [0.9, 0.9, -0.7];
    let moved = tidied(&mut ChaCha8Rng::seed_from_u64(1), &truth);
    assert_eq!(moved.len(), 1, "{moved:?}");
    let (name, [x, y, z]) = &moved[0];
    assert_eq!(*name, truth.objects[index].name);
    assert!(is_reachable(*x, *y) && *z > truth.table_height);
    for other in truth.objects.iter().filter(|other| other.name != *name) {
        let apart = (center(other) - Point2::new(*x, *y)).norm();
        assert!(apart > reach(other) + reach(&truth.objects[index]), "over {}", other.name);
    }
}

/// What a bowl touches is not what it stands on: what lies in it can be asked for.
#[test]
fn what_lies_in_a_bowl_may_be_taken_out() {
    let mut truth = truth(0);
    for seed in 0..30 {
        truth = self::truth(seed);
        if truth.objects.iter().any(|o| matches!(o.shape, prehend_sim::scene::Shape::Bowl { .. })) {
            break;
        }
    }
    let bowl = truth.objects.iter().position(|o| matches!(o.shape, prehend_sim::scene::Shape::Bowl { .. }));
    let bowl = bowl.expect("a table with a bowl");
    let small = truth.objects.iter().position(|o| !o.fixed && o.half_extents.iter().all(|half| *half < 0.04));
    let small = small.expect("something small");
    let (name, [x, y, z]) = (truth.objects[bowl].name.clone(), truth.objects[bowl].position);
    let inside = truth.objects[small].name.clone();
    // As physics has it: the two touch, and each is told to be on the other.
    truth.objects[bowl].touches.push(inside.clone());
    truth.objects[bowl].on.push(inside.clone());
    let object = &mut truth.objects[small];
    (object.position, object.touches, object.inside) = ([x, y, z - 0.005], vec![name.clone()], vec![name]);
    (object.speed, object.held) = (0.0, false);
    let maker = Maker { truth: &truth };
    assert!(maker.movable().iter().any(|o| o.name == inside), "{inside} in the bowl");
    assert!(maker.is_carried(&truth.objects[small]) && !maker.is_carried(&truth.objects[bowl]));
}
