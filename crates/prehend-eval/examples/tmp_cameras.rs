use prehend_eval::cameras::*;
use prehend_perception::MapSettings;
fn settings() -> MapSettings { let mut s = MapSettings::recorded(); let v = |n: &str, d: f64| std::env::var(n).ok().map_or(d, |t| t.parse().unwrap()); s.segment.min_height = v("MH", s.segment.min_height); s.segment.noise = v("NO", s.segment.noise); let f = s.segment.surfaces.as_mut().unwrap(); f.noise = v("SN", f.noise); f.smooth = v("LS", f.smooth); f.joined = v("LJ", f.joined); s }
fn main() {
    let a: Vec<String> = std::env::args().collect();
    if a[1] == "real" {
        for dir in &a[3..] {
            let frames = prehend_recording::find_frames(std::path::Path::new(dir)).unwrap();
            for f in &frames {
                let t = std::time::Instant::now();
                let (saved, _) = match prehend_recording::build(std::slice::from_ref(f), settings(), 1) { Ok(x) => x, Err(e) => { println!("{}: {e}", f.name); continue; } };
                for s in &saved.scenes { for v in &s.views {
                    let mut px = v.color.pixels.clone();
                    for (n, o) in s.map.objects.iter().enumerate() { let Some(c) = o.crops.first() else { continue }; let col = [[230,159,0],[86,180,233],[0,190,140],[240,228,66],[60,130,240],[235,60,20],[220,130,190],[250,250,250],[150,80,250],[120,255,80]][n % 10]; for i in c.mask.indices() { for k in 0..3 { px[i][k] = ((px[i][k] as u32 + 2 * col[k] as u32) / 3) as u8; } } }
                    let mut out = format!("P6 {} {} 255\n", v.color.width, v.color.height).into_bytes();
                    for q in &px { out.extend_from_slice(q); }
                    std::fs::write(format!("{}/{}.ppm", a[2], f.name), out).unwrap();
                    println!("  pose {:.3?} up in camera {:.3?} plane {:.3?}", v.map_from_camera.translation.vector.as_slice(), v.map_from_camera.inverse_transform_vector(&nalgebra::Vector3::z()).as_slice(), s.map.support_plane);
                    println!("{}: {} objects, {:.0} ms: {}", f.name, s.map.objects.len(), t.elapsed().as_secs_f64() * 1e3, s.map.objects.iter().map(|o| format!("{:.0}x{:.0}x{:.0}", o.bounds.size.x*1e3, o.bounds.size.y*1e3, o.bounds.size.z*1e3)).collect::<Vec<_>>().join(" "));
                } }
            }
        }
        return;
    }
    let (seed, n): (u64, u64) = (a[1].parse().unwrap(), a[2].parse().unwrap());
    for kind in Kind::ALL {
        let (mut c, mut e, mut t) = (Count::default(), 0, 0.0);
        let mut fate = [0; 4];
        for s in seed..seed + n {
            let (frame, f) = measure(kind, s, false, settings()).unwrap();
            if a.len() > 3 { eprintln!("FRAME {kind} {s} {:?} {:?}", frame.material, f.count); }
            if a.len() > 4 { let k = &frame.keyframe; let mut px = k.color.pixels.clone();
                for (n, m) in f.masks.iter().enumerate() { let col = [[230,159,0],[86,180,233],[0,190,140],[240,228,66],[60,130,240],[235,60,20],[220,130,190],[250,250,250]][n % 8]; for i in m.indices() { for c in 0..3 { px[i][c] = ((px[i][c] as u32 + 2 * col[c] as u32) / 3) as u8; } } }
                let mut out = format!("P6 {} {} 255\n", k.color.width, 2 * k.color.height).into_bytes();
                for q in &px { out.extend_from_slice(q); }
                for d in &k.depth.millimetres { let v = if *d == 0 { [255, 0, 0] } else { [((*d as u32 * 3) % 256) as u8; 3] }; out.extend_from_slice(&v); }
                std::fs::write(format!("{}/{kind}_{s}.ppm", a[4]), out).unwrap(); }
            c = c.plus(f.count); t += f.seconds;
            for thing in frame.things.iter().filter(|t| t.is_asked) {
                let best = f.masks.iter().map(|m| m.iou(&thing.mask)).fold(0.0, f64::max);
                if best >= 0.5 { continue; }
                let cover: f64 = f.masks.iter().map(|m| m.intersection_area(&thing.mask) as f64).fold(0.0, f64::max) / thing.mask.area() as f64;
                let all: f64 = f.masks.iter().map(|m| m.intersection_area(&thing.mask) as f64).sum::<f64>() / thing.mask.area() as f64;
                if a.len() > 3 { eprintln!("{kind} {s} {} best {best:.2} cover {cover:.2} all {all:.2} px {} {:?}", thing.class, thing.mask.area(), frame.material); }
                fate[if all < 0.3 { 0 } else if cover > 0.7 { 1 } else if all > 0.7 { 2 } else { 3 }] += 1;
            }
            if a.len() > 3 { for m in &f.masks { let best = frame.things.iter().map(|t| (m.iou(&t.mask), m.intersection_area(&t.mask) as f64 / m.area() as f64, t.class.as_str(), t.mask.area())).max_by(|x, y| x.1.total_cmp(&y.1)); if let Some((iou, share, class, area)) = best { if iou < 0.5 { eprintln!("EXTRA {kind} {s} px {} share {share:.2} of {class} {area}", m.area()); } } } }
            let (_, f) = measure(kind, s, true, settings()).unwrap();
            e += f.masks.len();
        }
        println!("{kind}: recall {:.1} ({}/{}) precision {:.1} of nothing {} empty {e}  {:.0} ms; missed: not there {}, merged {}, torn {}, part {}", 100.0 * c.found as f64 / c.things as f64, c.found, c.things, 100.0 * c.found as f64 / c.objects as f64, c.nothing, t / n as f64 * 1e3, fate[0], fate[1], fate[2], fate[3]);
    }
}
