// SPDX-License-Identifier: Apache-2.0
// lamina/executor/run_options.hpp - the feeds, the fetch list, seeds and switches of one run of a
// program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <lamina/engine/common/process_calls.hpp>
#include <lamina/program/returned_variables.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The values of data variables, by name. A value whose rows form sequences has a LoD
/// (tensor/lod_tensor.hpp).
using feed_map = std::map<std::string, lod_tensor, std::less<>>;

/// Options of a run.
struct run_options {
  std::uint64_t seed = 0;       // seeds random operators that have no seed attribute
  std::uint64_t step = 0;       // number of the mini-batch; dropout draws a new mask for each
  std::uint64_t first_row = 0;  // index of the first row of this part in the whole mini-batch
  bool check_nan = false;       // throws lamina::error at the first result that is not finite
  /// For each parameter, the attributes of its update operator, in the order of the operator's
  /// schema. A training loop can change them in each step. If the list is empty, the recorded
  /// attributes are used.
  std::vector<std::vector<float>> update_numbers{};
  // The largest number of iterations of a while loop; run() throws if a loop needs more.
  std::uint64_t iterations = 1000000;
  /// The function that the operator read_minibatch calls. It must store the feeds of the next
  /// mini-batch and return whether another mini-batch follows.
  std::function<bool(feed_map&)> next_minibatch{};
  /// The other processes that run the program, for c_allreduce_sum: a world_calls
  /// (train/world_calls.hpp). If it is null, only this process runs the program.
  engine::process_calls* processes = nullptr;
  std::ostream* print_to = nullptr;  // output of the print operator; null: std::cerr
};

/// An element of a fetch list: a variable that a record function returned (returned_variables), or
/// the name of any variable of block 0. Only the name of a handle is used, so a handle of a program
/// is also valid for programs that are derived from this program, such as its clone for tests.
/// Fluid: an element of fetch_list.
class fetched {
 public:
  fetched(const char* name) : name_(name) {}             // NOLINT: a name converts
  fetched(std::string name) : name_(std::move(name)) {}  // NOLINT: a name converts
  template <class P, class T, class R, int... D>
  fetched(returned_variable<P, T, R, D...> v)  // NOLINT: a handle converts
      : name_(variable_name(P::view(), v.id)) {}

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}}  // namespace lamina
