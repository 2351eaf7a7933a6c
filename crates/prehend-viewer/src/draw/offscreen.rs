//! A picture without a window.

use super::scene::Scene;
use super::{DrawError, MOST_PIXELS, camera, require_adapter};
use crate::{Stage, Viewpoint};
use kiss3d::window::{CanvasSetup, NumSamples, OffscreenSurface};
use prehend_geometry::ColorImage;

/// Draws stages into pictures, without a window and without a screen.
pub struct OffScreen {
    scene: Scene,
    surface: OffscreenSurface,
}

impl std::fmt::Debug for OffScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OffScreen").field("stage", self.scene.stage()).finish_non_exhaustive()
    }
}

impl OffScreen {
    /// For pictures of this size, pixels.
    ///
    /// Errors: [`DrawError::Size`], [`DrawError::NoAdapter`].
    pub async fn new(width: u32, height: u32) -> Result<Self, DrawError> {
        if [width, height].iter().any(|side| !(1..=MOST_PIXELS).contains(side)) {
            return Err(DrawError::Size { width, height });
        }
        require_adapter().await?;
        let setup = CanvasSetup { samples: NumSamples::Four, vsync: false, ..Default::default() };
        let mut surface = OffscreenSurface::with_setup(width, height, setup).await;
        let scene = Scene::new(surface.window_mut());
        Ok(Self { scene, surface })
    }

    /// Shows another stage from now on.
    pub fn show(&mut self, stage: Stage) {
        self.scene.show(stage);
    }

    /// Draws what `view` sees, and leaves it where [`OffScreen::picture`] would read it; `view` has the size of the pictures, whatever
    /// it says.
    pub async fn draw(&mut self, view: &Viewpoint) {
        let view = Viewpoint { width: self.surface.width(), height: self.surface.height(), ..*view };
        self.scene.draw(self.surface.window_mut(), &mut camera(&view), &view).await;
    }

    /// What `view` sees, as [`OffScreen::draw`] says.
    pub async fn picture(&mut self, view: &Viewpoint) -> ColorImage {
        self.draw(view).await;
        let picture = self.surface.snap_image();
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let pixels = picture.pixels().map(|pixel| pixel.0).collect();
        ColorImage { width, height, pixels }
    }
}
