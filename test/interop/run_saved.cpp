// SPDX-License-Identifier: Apache-2.0
// Runs what save_paddle.py saved and compares with what PaddlePaddle found.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "executor/shared_executor.hpp"
#include <interop/run_saved.hpp>

#include <lamina/io/inference_model.hpp>

namespace interop {
namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  lamina::for_each_name(folder, [&](std::string_view name) {
    if (name[0] != '.') names.emplace_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}
lamina::lod_tensor value_in(const std::string& path) {
  lamina::binary_reader from(path);
  return lamina::read_lod_tensor(from, path);
}

/// What differs, or "".
std::string difference(const std::string& name, const lamina::tensor& here,
                       const lamina::tensor& there) {
  const auto without_ones = [](lamina::tensor_shape shape) {
    std::erase(shape, std::size_t{1});
    return shape;
  };
  if (here.size() != there.size() || without_ones(here.shape()) != without_ones(there.shape()))
    return name + ": shape " + lamina::to_string(here.shape()) + " here, " +
           lamina::to_string(there.shape()) + " there; ";
  const auto x = here.cast<double>(), y = there.cast<double>();
  double largest = 1e-2, worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    largest = std::max(largest, std::abs(y.flat(i)));
    const double error = std::abs(x.flat(i) - y.flat(i));
    worst = error <= worst ? worst : error;  // NaN counts
  }
  if (worst <= 1e-5 * largest) return "";
  return name + ": relative error " + std::to_string(worst / largest) + "; ";
}

std::string run_case(const std::string& folder, lamina::executor& executor) {
  const lamina::loaded_program program = lamina::load_program_desc(folder + "/__model__");
  lamina::scope variables;
  if (!program.persistable_names().empty())
    load_persistables(folder, variables, program, "parameters");
  lamina::feed_map feed;
  for (const std::string& name : names_in(folder + "/feed"))
    feed[name] = value_in(folder + "/feed/" + name);
  std::vector<std::string> fetch = program.fetch_names();
  if (fetch.empty()) {
    std::istringstream lines(lamina::read_file(folder + "/names"));
    for (std::string line; std::getline(lines, line);) fetch.push_back(line);
  }
  const auto found = executor.run(program, variables, feed, fetch);
  std::string faults;
  for (std::size_t i = 0; i < found.size(); ++i)
    faults += difference(fetch[i], found[i], value_in(folder + "/fetch/" + std::to_string(i)));
  for (const std::string& name : names_in(folder + "/after"))
    faults += difference(name, variables.get(name), value_in(folder + "/after/" + name));
  return faults;
}

}  // namespace

int run_saved(const std::string& folder, const std::string& differences) {
  lamina::executor executor;
  int equal = 0, failed = 0, explained = 0;
  std::set<std::string> known;
  std::istringstream lines(lamina::read_file(differences));
  for (std::string line; std::getline(lines, line);) known.insert(line.substr(0, line.find(' ')));
  for (const std::string& name : names_in(folder)) {
    std::string faults;
    try {
      faults = run_case(folder + "/" + name, executor);
    } catch (const std::exception& e) {
      faults = e.what();
    }
    if (faults.empty() == (known.count(name) == 0)) {
      ++(faults.empty() ? equal : explained);
    } else {
      if (faults.empty()) faults = "equal, though differences.txt explains a difference";
      ++failed;
      std::printf("%s: %s\n", name.c_str(), faults.c_str());
    }
  }
  std::printf("%d of %d saved programs give the same here, %d differ as explained, %d failed\n",
              equal, equal + explained + failed, explained, failed);
  return failed == 0 && equal > 0 ? 0 : 1;
}

}  // namespace interop
