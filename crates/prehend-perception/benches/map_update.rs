//! Map update of one 640x480 keyframe with ten objects (the aim is under 100 ms), first sight and update, and its parts.

#[path = "../tests/support/render.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests, which use more of it")]
mod render;

use criterion::{Criterion, criterion_group, criterion_main};
use prehend_perception::segment::{SegmentSettings, segment};
use prehend_perception::{MapBuilder, MapSettings};
use std::hint::black_box;

fn benches(c: &mut Criterion) {
    let frame = render::render(&render::ten(), &render::VGA, &render::home(), 0.002, 1);
    c.bench_function("map update, first keyframe, 10 objects", |b| {
        b.iter(|| {
            let mut builder = MapBuilder::new("link_base", MapSettings::default());
            let report = builder.update(black_box(&frame), None, false, 0);
            assert_eq!(report.map(|r| r.added.len()), Ok(10));
        });
    });
    let mut builder = MapBuilder::new("link_base", MapSettings::default());
    c.bench_function("map update, known keyframe, 10 objects", |b| {
        b.iter(|| builder.update(black_box(&frame), None, false, 0).map(|r| r.merged.len()));
    });
    c.bench_function("geometric segmentation", |b| {
        b.iter(|| segment(black_box(&frame), &SegmentSettings::default(), None, 0).count);
    });
}

criterion_group! {
    name = group;
    config = Criterion::default().sample_size(20);
    targets = benches
}
criterion_main!(group);
