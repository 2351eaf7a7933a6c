//! Networks whose answer is known: the mean of each colour channel, cell by cell, as the scores of three classes.

use crate::support::onnx::{Axis, Axis::Free, Axis::Is, Graph, Kind};

/// Names of the three classes, in the order of the channels.
pub(crate) const CLASSES: &str = "first\nsecond\nthird\n";

/// A convolution over cells of `side` pixels: nothing in `before` channels, then the means of the three channels of the input.
pub(crate) fn means(graph: Graph, input: &str, output: &str, before: usize, side: usize) -> Graph {
    let pixels = side * side;
    let mut weights = vec![0.0_f32; (before + 3) * 3 * pixels];
    for channel in 0..3 {
        let start = ((before + channel) * 3 + channel) * pixels;
        weights[start..start + pixels].fill(1.0 / pixels as f32);
    }
    let kernel = [side as i64; 2];
    graph.floats("weights", &[before + 3, 3, side, side], &weights).node(
        "Conv",
        &[input, "weights"],
        &[output],
        &[("kernel_shape", &kernel), ("strides", &kernel)],
    )
}

/// A picture input as exports have it.
pub(crate) fn pictures<'a>(batch: Axis<'a>, width: Axis<'a>, height: Axis<'a>) -> [Axis<'a>; 4] {
    [batch, Is(3), height, width]
}

/// YOLO's inputs and outputs over a frame of `columns` x `rows` cells of `side` pixels; every anchor is the box of its cell.
pub(crate) fn yolo(batch: Axis<'_>, columns: usize, rows: usize, side: usize) -> Graph {
    let cells = columns * rows;
    let mut boxes = vec![0.0_f32; 7 * cells];
    for cell in 0..cells {
        let centre = |place: usize| (place as f32 + 0.5) * side as f32;
        let values = [centre(cell % columns), centre(cell / columns), side as f32, side as f32];
        for (row, value) in values.into_iter().enumerate() {
            boxes[row * cells + cell] = value;
        }
    }
    let graph = Graph::default()
        .input("images", Kind::Float, &pictures(batch, Free("width"), Free("height")))
        .output("output0", Kind::Float, &[Free("batch"), Is(7), Free("anchors")])
        .ints("flat", &[0, 7, -1])
        .floats("boxes", &[1, 7, cells], &boxes);
    means(graph, "images", "grid", 4, side).node("Reshape", &["grid", "flat"], &["scores"], &[]).node(
        "Add",
        &["scores", "boxes"],
        &["output0"],
        &[],
    )
}

/// FastestDet's inputs and outputs: boxes of half the picture in the middle of their cells, sure that something is there.
pub(crate) fn fastestdet() -> Graph {
    let mut bias = [0.0_f32; 8];
    bias[0] = 1.0;
    let graph = Graph::default()
        .input("input.1", Kind::Float, &pictures(Is(1), Is(352), Is(352)))
        .output("758", Kind::Float, &[Is(1), Is(8), Is(22), Is(22)])
        .floats("bias", &[1, 8, 1, 1], &bias);
    means(graph, "input.1", "grid", 5, 16).node("Add", &["grid", "bias"], &["758"], &[])
}
