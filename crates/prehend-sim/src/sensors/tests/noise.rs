//! Statistics of the depth and colour noise.

use super::*;

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[test]
fn noise_grows_with_the_square_of_the_distance() {
    let setting = |z: f64| {
        let mut setting = Setting::table();
        setting.frame.base_from_camera = camera_above(0.45, 0.0, z);
        setting
    };
    for z in [0.5, 1.0, 2.0] {
        let sigma = 0.004;
        let noise =
            DepthNoise { sigma_at_1m: sigma, grazing: 0.0, edge_px: 0, edge_dropout: 0.0, dropout: 0.0 };
        let capture = setting(z).capture(CameraSpec { depth_noise: Some(noise), ..clean() }, 3, 0);
        // The middle of the image sees the table, at distance z.
        let errors: Vec<f64> = (0..100)
            .flat_map(|i| (0..100).map(move |j| (190 + i) * 640 + 270 + j))
            .filter_map(|index| Some(capture.depth.metres(index)? - f64::from(capture.true_depth[index])))
            .collect();
        assert_eq!(errors.len(), 10_000);
        let (mean, deviation) = moments(&errors);
        let expected = ((sigma * z * z).powi(2) + 1e-6 / 12.0).sqrt(); // the millimetre grid adds its own
        assert!((deviation / expected - 1.0).abs() < 0.05, "{deviation} m at {z} m, expected {expected}");
        assert!(mean.abs() < 4.0 * expected / 100.0 + 1e-4, "bias of {mean} m at {z} m");
    }
}

#[test]
fn holes_at_edges_at_random_and_at_grazing_surfaces() {
    let mut setting = Setting::table();
    setting.object(Shape::Cylinder { radius: 0.04, height: 0.12 }, [40, 160, 60], 0.45, 0.0, 0.12);
    let holes = |noise: DepthNoise| {
        let capture = setting.capture(CameraSpec { depth_noise: Some(noise), ..clean() }, 3, 0);
        let seen = capture.true_depth.iter().filter(|z| **z > 0.0).count();
        let measured = capture.depth.millimetres.iter().filter(|mm| **mm > 0).count();
        (seen - measured) as f64 / seen as f64
    };
    let none = DepthNoise { sigma_at_1m: 0.0, grazing: 0.0, edge_px: 0, edge_dropout: 0.0, dropout: 0.0 };
    assert_eq!(holes(none), 0.0);
    assert!((holes(DepthNoise { dropout: 0.1, ..none }) - 0.1).abs() < 0.003);
    let edges = holes(DepthNoise { edge_px: 1, edge_dropout: 1.0, ..none });
    assert!(edges > 0.0005 && edges < 0.02, "{edges} of the image are edges");
    assert!(holes(DepthNoise { edge_px: 3, edge_dropout: 1.0, ..none }) > 2.0 * edges);
    // From straight above, only a cylinder's side grazes; from near the table, the table does.
    assert!(holes(DepthNoise { grazing: 0.15, ..none }) < 0.02);
    setting.frame.base_from_camera = camera_looking([-0.4, 0.0, 0.06], [0.45, 0.0, 0.0]);
    let capture = setting.capture(
        CameraSpec { depth_noise: Some(DepthNoise { grazing: 0.15, ..none }), ..clean() },
        3,
        0,
    );
    let k = wrist_camera_intrinsics();
    let height = |i: usize| {
        let (u, v) = ((i % k.width) as f64, (i / k.width) as f64);
        (setting.frame.base_from_camera * k.unproject(u, v, f64::from(capture.true_depth[i]))).z
    };
    // Every pixel of the table's top is seen at less than 8 degrees; its front edge faces the camera.
    let top =
        |i: &usize| capture.labels.labels[*i] == 0 && capture.true_depth[*i] > 0.0 && height(*i) > -1e-4;
    let lost: Vec<bool> = (0..640 * 480).filter(top).map(|i| capture.depth.millimetres[i] == 0).collect();
    assert!(lost.len() > 5000 && lost.iter().all(|lost| *lost), "{} pixels", lost.len());
    let edge =
        (0..640 * 480).filter(|i| capture.true_depth[*i] > 0.0 && !top(i) && capture.labels.labels[*i] == 0);
    assert!(edge.filter(|i| capture.depth.millimetres[*i] > 0).count() > 5000);
}

#[test]
fn nothing_is_measured_out_of_range() {
    let mut setting = Setting::table();
    for (z, measured) in [(0.10, false), (0.12, true), (2.95, true), (3.05, false)] {
        setting.frame.base_from_camera = camera_above(0.45, 0.0, z);
        let capture = setting.capture(clean(), 1, 0);
        assert_eq!(capture.depth.millimetres[240 * 640 + 320] > 0, measured, "{z} m");
    }
}

#[test]
fn colour_noise_has_its_deviation() {
    let mut setting = Setting::table();
    setting.object(Shape::Box { size: [0.3, 0.3, 0.05] }, [120, 120, 120], 0.45, 0.0, 0.05);
    let calm = setting.capture(clean(), 1, 0).color;
    let noisy = setting.capture(CameraSpec { color_noise: 3.0, ..clean() }, 1, 0).color;
    let errors: Vec<f64> = (200..300)
        .flat_map(|v| (250..400).map(move |u| v * 640 + u))
        .flat_map(|i| (0..3).map(move |c| (i, c)))
        .map(|(i, c)| f64::from(noisy.pixels[i][c]) - f64::from(calm.pixels[i][c]))
        .collect();
    let (mean, deviation) = moments(&errors);
    assert!(mean.abs() < 0.1 && (deviation - 3.0).abs() < 0.15, "{mean} {deviation}");
}
