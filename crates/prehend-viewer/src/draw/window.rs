//! A window.

use super::scene::Scene;
use super::{DrawError, camera, require_adapter};
use crate::{Layer, Pixel, Stage, Steer, Viewpoint, thing_under};
use kiss3d::camera::{Camera3d, OrbitCamera3d};
use kiss3d::context::Context;
use kiss3d::event::{Action, Key, MouseButton, WindowEvent};
use kiss3d::glamx::Vec3;
use kiss3d::window::{CanvasSetup, NumSamples, Window};
use nalgebra::Point3;
use prehend_scene::ObjectKey;
use std::time::{Duration, Instant};

/// Time between two frames: with a graphics card, in software while something changes, and in software while nothing does.
const FRAME: Duration = Duration::from_millis(16);
const SOFTWARE_FRAME: Duration = Duration::from_millis(80);
const IDLE_FRAME: Duration = Duration::from_millis(400);
/// How long after a change it still counts as changing.
const STIRRED: Duration = Duration::from_millis(600);

/// How far the pointer may move in a click, pixels.
const CLICK: f64 = 4.0;

/// A window that shows a stage: drag with the left button to look around, with the right one to move, scroll to come nearer; a click
/// selects a thing, F shows the whole stage again, Escape closes. C, B, M, A and T leave out what the planner keeps clear of, the box that the
/// tool does not leave, the map of the floor, areas and names, or show them again. Space, the arrows and the digits steer a recording; Y and N
/// answer a question.
///
/// It must be made and drawn on the main thread.
pub struct StageWindow {
    scene: Scene,
    window: Window,
    /// Whether no graphics card draws.
    is_software: bool,
    /// When something changed last.
    stirred: Instant,
    camera: OrbitCamera3d,
    pressed: Option<Pixel>,
    pointer: Pixel,
    /// Whether a person has chosen from where it is seen.
    is_moved: bool,
    steers: Vec<Steer>,
    answers: Vec<bool>,
}

impl std::fmt::Debug for StageWindow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StageWindow").field("stage", self.scene.stage()).finish_non_exhaustive()
    }
}

impl StageWindow {
    /// Opens a window of this size, pixels.
    ///
    /// Errors: [`DrawError::NoScreen`], [`DrawError::NoAdapter`].
    pub async fn open(title: &str, width: u32, height: u32) -> Result<Self, DrawError> {
        let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if cfg!(all(unix, not(target_os = "macos"))) && !has("DISPLAY") && !has("WAYLAND_DISPLAY") {
            return Err(DrawError::NoScreen);
        }
        // Smooth edges would cost software most of its frames.
        let is_software = require_adapter().await? == wgpu::DeviceType::Cpu;
        let samples = if is_software { NumSamples::One } else { NumSamples::Four };
        let setup = CanvasSetup { samples, ..CanvasSetup::default() };
        let mut window = Window::new_with_setup(title, width, height, setup).await;
        window.rebind_close_key(Some(Key::Escape));
        let scene = Scene::new(&mut window);
        let view = Viewpoint::framing(scene.stage(), width, height);
        let pointer = Pixel { x: 0.0, y: 0.0 };
        Ok(Self {
            scene,
            window,
            is_software,
            stirred: Instant::now(),
            camera: steered(&view),
            pressed: None,
            pointer,
            is_moved: false,
            steers: Vec::new(),
            answers: Vec::new(),
        })
    }

    /// Shows another stage from now on; what was clicked stays selected. Until a person has moved the camera, all that the stage has is in
    /// the picture whenever its things or its robot appear.
    pub fn show(&mut self, stage: Stage) {
        let before = self.scene.stage();
        let (selected, hidden) = (before.selected.clone(), before.hidden.clone());
        let has_more = stage.things.len() != before.things.len()
            || stage.robot.is_empty() != before.robot.is_empty()
            || stage.floor.is_some() != before.floor.is_some();
        self.stirred = Instant::now();
        self.scene.show(Stage { selected, hidden, ..stage });
        if has_more && !self.is_moved {
            self.frame_all();
        }
    }

    /// Selects a thing as a click would, or nothing.
    pub fn select(&mut self, key: Option<ObjectKey>) {
        self.scene.select(key);
    }

    /// Leaves layers out from now on, until their keys are pressed.
    pub fn hide(&mut self, layers: &[Layer]) {
        for layer in
            layers.iter().filter(|layer| self.scene.stage().shows(**layer)).copied().collect::<Vec<_>>()
        {
            self.scene.toggle(layer);
        }
    }

    /// The keys for yes (true) and no that a person has pressed since this was asked last.
    pub fn answers(&mut self) -> Vec<bool> {
        std::mem::take(&mut self.answers)
    }

    /// What a person has wanted of a recording since this was asked last.
    pub fn steers(&mut self) -> Vec<Steer> {
        std::mem::take(&mut self.steers)
    }

    /// How long after the beginning of a frame the next one is worth drawing. In software that is seldom: each frame costs a processor its
    /// time, and Mesa's lavapipe memory that it does not give back.
    pub fn pace(&self) -> Duration {
        match (self.is_software, self.stirred.elapsed() < STIRRED) {
            (false, _) => FRAME,
            (true, true) => SOFTWARE_FRAME,
            (true, false) => IDLE_FRAME,
        }
    }

    /// Draws the next frame and waits for the screen; whether the window is still open.
    pub async fn frame(&mut self) -> bool {
        self.take_events();
        let view = self.view();
        let is_open = self.scene.draw(&mut self.window, &mut self.camera, &view).await;
        if self.is_software {
            // Software does not hold up who asks for frames faster than it draws: they would pile up, each with its memory, and the window
            // would show what was long ago. Should the device be lost, the next frame says so.
            let _ = Context::get().device.poll(wgpu::PollType::wait_indefinitely());
        }
        is_open
    }

    fn frame_all(&mut self) {
        let size = self.window.size();
        self.camera = steered(&Viewpoint::framing(self.scene.stage(), size.x, size.y));
    }

    /// From where the window sees the stage.
    fn view(&self) -> Viewpoint {
        let place = |v: Vec3| Point3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z));
        let size = self.window.size();
        Viewpoint {
            eye: place(self.camera.eye()),
            target: place(self.camera.at()),
            field_of_view: f64::from(self.camera.fov()),
            width: size.x,
            height: size.y,
        }
    }

    fn take_events(&mut self) {
        let mut toggled = Vec::new();
        let mut manager = self.window.events();
        for mut event in manager.iter() {
            // Others, such as that of its size, come with every frame.
            if event.value.is_mouse_event() || event.value.is_keyboard_event() {
                self.stirred = Instant::now();
            }
            // The camera moves at once: names are written where things will be drawn. Other events go on to the window.
            if event.value.is_mouse_event() {
                event.inhibited = true;
                self.camera.handle_event(self.window.canvas(), &event.value);
            }
            match event.value {
                WindowEvent::CursorPos(x, y, _) => self.pointer = Pixel { x, y },
                WindowEvent::MouseButton(MouseButton::Button1, Action::Press, _) => {
                    self.pressed = Some(self.pointer);
                }
                WindowEvent::MouseButton(MouseButton::Button1, Action::Release, _) => {
                    let way = |from: Pixel| (from.x - self.pointer.x).hypot(from.y - self.pointer.y);
                    match self.pressed.take() {
                        Some(from) if way(from) < CLICK => self.click(),
                        _ => self.is_moved = true,
                    }
                }
                WindowEvent::Scroll(..)
                | WindowEvent::MouseButton(MouseButton::Button2, Action::Press, _) => {
                    self.is_moved = true;
                }
                WindowEvent::Key(Key::F, Action::Press, _) => self.frame_all(),
                WindowEvent::Key(key, Action::Press, _) => {
                    self.steers.extend(steer(key));
                    self.answers.extend(answer(key));
                    toggled.extend(layer(key));
                }
                _ => {}
            }
        }
        for layer in toggled {
            self.scene.toggle(layer);
        }
    }

    /// Selects what is under the pointer, or nothing.
    fn click(&mut self) {
        let ray = self.view().ray(self.pointer);
        let key = thing_under(&ray, self.scene.stage()).map(|thing| thing.key.clone());
        self.select(key);
    }
}

/// What a key leaves out, or shows again.
fn layer(key: Key) -> Option<Layer> {
    match key {
        Key::C => Some(Layer::Shapes),
        Key::B => Some(Layer::Fence),
        Key::M => Some(Layer::Floor),
        Key::A => Some(Layer::Areas),
        Key::T => Some(Layer::Names),
        _ => None,
    }
}

/// What a key answers.
fn answer(key: Key) -> Option<bool> {
    match key {
        Key::Y => Some(true),
        Key::N => Some(false),
        _ => None,
    }
}

/// What a key wants of a recording.
fn steer(key: Key) -> Option<Steer> {
    const DIGITS: [Key; 10] = [
        Key::Key0,
        Key::Key1,
        Key::Key2,
        Key::Key3,
        Key::Key4,
        Key::Key5,
        Key::Key6,
        Key::Key7,
        Key::Key8,
        Key::Key9,
    ];
    match key {
        Key::Space => Some(Steer::Pause),
        Key::Right => Some(Steer::Forward),
        Key::Left => Some(Steer::Back),
        key => {
            let digit = DIGITS.iter().position(|one| *one == key)?;
            Some(Steer::To(digit as f64 / 10.0))
        }
    }
}

/// A camera that a person moves.
fn steered(view: &Viewpoint) -> OrbitCamera3d {
    let mut camera = camera(view);
    // The key would look at the robot's foot.
    camera.rebind_reset_key(None);
    camera
}
