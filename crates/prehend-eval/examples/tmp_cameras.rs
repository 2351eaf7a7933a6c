use prehend_eval::cameras::*;
use prehend_perception::MapSettings;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (seed, n): (u64, u64) = (a[1].parse().unwrap(), a[2].parse().unwrap());
    for kind in Kind::ALL {
        let (mut c, mut e, mut t) = (Count::default(), 0, 0.0);
        let mut fate = [0; 4];
        for s in seed..seed + n {
            let (frame, f) = measure(kind, s, false, MapSettings::recorded()).unwrap();
            if a.len() > 3 { eprintln!("FRAME {kind} {s} {:?} {:?}", frame.material, f.count); }
            c = c.plus(f.count); t += f.seconds;
            for thing in frame.things.iter().filter(|t| t.is_asked) {
                let best = f.masks.iter().map(|m| m.iou(&thing.mask)).fold(0.0, f64::max);
                if best >= 0.5 { continue; }
                let cover: f64 = f.masks.iter().map(|m| m.intersection_area(&thing.mask) as f64).fold(0.0, f64::max) / thing.mask.area() as f64;
                let all: f64 = f.masks.iter().map(|m| m.intersection_area(&thing.mask) as f64).sum::<f64>() / thing.mask.area() as f64;
                if a.len() > 3 { eprintln!("{kind} {s} {} best {best:.2} cover {cover:.2} all {all:.2} px {} {:?}", thing.class, thing.mask.area(), frame.material); }
                fate[if all < 0.3 { 0 } else if cover > 0.7 { 1 } else if all > 0.7 { 2 } else { 3 }] += 1;
            }
            let (_, f) = measure(kind, s, true, MapSettings::recorded()).unwrap();
            e += f.masks.len();
        }
        println!("{kind}: recall {:.1} ({}/{}) precision {:.1} of nothing {} empty {e}  {:.0} ms; missed: not there {}, merged {}, torn {}, part {}", 100.0 * c.found as f64 / c.things as f64, c.found, c.things, 100.0 * c.found as f64 / c.objects as f64, c.nothing, t / n as f64 * 1e3, fate[0], fate[1], fate[2], fate[3]);
    }
}
