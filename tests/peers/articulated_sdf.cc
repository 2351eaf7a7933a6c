// Described things in Gazebo's own parser (libsdformat): do they load, are their frames and poses sound?
//
//   apt install liburdfdom-tools libsdformat-dev sdformat-sdf
//   g++ -std=c++17 tests/peers/articulated_sdf.cc -o /tmp/articulated_sdf $(pkg-config --cflags --libs sdformat12)
//   prehend eval articulated --things 33 --out DIR && /tmp/articulated_sdf DIR/*.sdf DIR/*.urdf
//   for file in DIR/*.urdf; do check_urdf $file > /dev/null || echo $file; done
//
// Prints each file that has errors, and how many have none; ends with the number of the others. URDF is what Gazebo converts itself.
#include <iostream>
#include <sdf/sdf.hh>

int main(int count, char **files)
{
  int wrong = 0;
  for (int i = 1; i < count; ++i)
  {
    sdf::Root root;
    const sdf::Errors errors = root.Load(files[i]);
    const sdf::Model *model = root.Model();
    sdf::Errors graphs;
    if (model != nullptr)
      graphs = model->ValidateGraphs();
    const bool good = errors.empty() && graphs.empty() && model != nullptr && model->JointCount() > 0;
    if (good)
      continue;
    ++wrong;
    std::cout << files[i] << ": " << (model ? "" : "no model; ") << errors.size() + graphs.size() << " errors\n";
    for (const auto &error : errors)
      std::cout << "  " << error.Message() << "\n";
    for (const auto &error : graphs)
      std::cout << "  " << error.Message() << "\n";
  }
  std::cout << count - 1 - wrong << " of " << count - 1 << " files load without an error\n";
  return wrong;
}
