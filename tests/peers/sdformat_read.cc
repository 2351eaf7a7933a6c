// What libsdformat reads in an SDF or a URDF: a line for each model, link and joint. Used by crates/prehend-sim/tests/sdf.rs and tests/gazebo.rs.
//
//     g++ -std=c++17 tests/peers/sdformat_read.cc -o sdformat_read $(pkg-config --cflags --libs sdformat12) && ./sdformat_read world.sdf
//
//     model NAME STATIC
//     link NAME x y z qx qy qz qw  mass cx cy cz ixx ixy ixz iyy iyz izz  COLLISIONS VISUALS SENSORS
//     joint NAME KIND PARENT CHILD  ax ay az lower upper damping friction spring_reference spring_stiffness
//
// Poses of links are in the world's frame. Exit code 1 when libsdformat finds an error; warnings go to stderr.
#include <iomanip>
#include <iostream>
#include <sdf/sdf.hh>

static const char *KindOf(const sdf::Joint &joint) {
  switch (joint.Type()) {
    case sdf::JointType::FIXED: return "fixed";
    case sdf::JointType::PRISMATIC: return "prismatic";
    case sdf::JointType::REVOLUTE: return "revolute";
    case sdf::JointType::CONTINUOUS: return "continuous";
    default: return "other";
  }
}

// A vector's own operator rounds to six digits behind the point.
template <typename V>
static void PrintVector(const V &v) {
  std::cout << ' ' << v.X() << ' ' << v.Y() << ' ' << v.Z();
}

static sdf::Errors Print(const sdf::Model &model) {
  sdf::Errors errors;
  auto add = [&errors](const sdf::Errors &more) { errors.insert(errors.end(), more.begin(), more.end()); };
  auto base = model.RawPose();
  add(model.SemanticPose().Resolve(base));
  std::cout << "model " << model.Name() << ' ' << model.Static() << '\n';
  for (uint64_t i = 0; i < model.LinkCount(); ++i) {
    const sdf::Link &link = *model.LinkByIndex(i);
    auto pose = link.RawPose();
    add(link.SemanticPose().Resolve(pose));
    pose = base * pose;
    const auto &inertial = link.Inertial();
    const auto center = inertial.Pose().Pos();
    const auto moi = inertial.Moi();
    std::cout << "link " << link.Name();
    PrintVector(pose.Pos());
    PrintVector(pose.Rot());
    std::cout << ' ' << pose.Rot().W() << ' ' << inertial.MassMatrix().Mass();
    PrintVector(center);
    std::cout << ' ' << moi(0, 0) << ' ' << moi(0, 1) << ' ' << moi(0, 2) << ' ' << moi(1, 1) << ' ' << moi(1, 2) << ' ' << moi(2, 2) << ' '
              << link.CollisionCount() << ' ' << link.VisualCount() << ' ' << link.SensorCount() << '\n';
  }
  for (uint64_t i = 0; i < model.JointCount(); ++i) {
    const sdf::Joint &joint = *model.JointByIndex(i);
    std::string parent, child;
    add(joint.ResolveParentLink(parent));
    add(joint.ResolveChildLink(child));
    std::cout << "joint " << joint.Name() << ' ' << KindOf(joint) << ' ' << parent << ' ' << child;
    if (const sdf::JointAxis *axis = joint.Axis(0)) {
      // Its namespace changed its name with libsdformat 13.
      auto along = axis->Xyz();
      add(axis->ResolveXyz(along, joint.Name()));
      PrintVector(along);
      std::cout << ' ' << axis->Lower() << ' ' << axis->Upper() << ' ' << axis->Damping() << ' '
                << axis->Friction() << ' ' << axis->SpringReference() << ' ' << axis->SpringStiffness();
    }
    std::cout << '\n';
  }
  return errors;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: sdformat_read FILE\n";
    return 2;
  }
  std::cout << std::setprecision(12);
  sdf::Root root;
  sdf::Errors errors = root.Load(argv[1]);
  for (uint64_t w = 0; w < root.WorldCount(); ++w) {
    const sdf::World &world = *root.WorldByIndex(w);
    for (uint64_t m = 0; m < world.ModelCount(); ++m) {
      const auto more = Print(*world.ModelByIndex(m));
      errors.insert(errors.end(), more.begin(), more.end());
    }
  }
  if (const sdf::Model *model = root.Model()) {
    const auto more = Print(*model);
    errors.insert(errors.end(), more.begin(), more.end());
  }
  for (const auto &error : errors)
    std::cerr << error << '\n';
  return errors.empty() ? 0 : 1;
}
