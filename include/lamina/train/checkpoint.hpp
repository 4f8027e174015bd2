// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoint.hpp - what a training run needs to go on after a stop, bit for bit.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina {

/// Where a training run stands: the next mini-batch is number `batch` of pass `pass`.
struct training_position {
  int pass = 0;
  std::int64_t batch = 0;
};

namespace detail {

/// "checkpoint_12" -> 12; -1 for other names.
LAMINA_COLD inline long long checkpoint_serial(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string prefix = "checkpoint_";
  if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0) return -1;
  long long n = 0;
  for (std::size_t i = prefix.size(); i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9' || n > 1'000'000'000'000) return -1;
    n = n * 10 + (name[i] - '0');
  }
  return n;
}

LAMINA_COLD inline std::vector<std::filesystem::path> checkpoints_in(
    const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  if (std::filesystem::is_directory(directory))
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (checkpoint_serial(entry.path()) >= 0) found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return checkpoint_serial(a) < checkpoint_serial(b);
  });
  return found;
}

}  // namespace detail

/// Writes parameters, accumulators, step, position and seed to a new file `checkpoint_<steps>` of
/// the directory, and removes all but the newest `keep` (0: none is removed). The file appears
/// whole or not at all.
template <class P, class Opt>
LAMINA_COLD void save_checkpoint(const std::filesystem::path& directory, trainer<P, Opt>& t,
                                 training_position at, std::uint64_t seed, int keep) {
  std::filesystem::create_directories(directory);
  std::vector<tensor_entry> entries = t.trained().entries();
  for (tensor_entry& e : t.entries()) entries.push_back(std::move(e));
  tensor_entry type{"@optimizer@", dtype::uint8, {}, Opt::type};
  type.dims.push_back(type.bytes.size());
  entries.push_back(std::move(type));
  entries.push_back(tensor_entry::number("@step@", static_cast<std::uint64_t>(t.steps())));
  entries.push_back(tensor_entry::number("@pass@", static_cast<std::uint64_t>(at.pass)));
  entries.push_back(tensor_entry::number("@batch@", static_cast<std::uint64_t>(at.batch)));
  entries.push_back(tensor_entry::number("@seed@", seed));
  write_tensor_file(directory / ("checkpoint_" + std::to_string(t.steps())), entries);
  std::vector<std::filesystem::path> all = detail::checkpoints_in(directory);
  for (std::size_t i = 0; keep > 0 && i + static_cast<std::size_t>(keep) < all.size(); ++i)
    std::filesystem::remove(all[i]);
}

/// Puts a training run back to where the newest checkpoint of the directory left it; returns false
/// when there is none. Throws format_error for a damaged file and lamina::error for one of another
/// program, optimizer or seed; nothing is changed then.
template <class P, class Opt>
LAMINA_COLD bool load_checkpoint(const std::filesystem::path& directory, trainer<P, Opt>& t,
                                 training_position& at, std::uint64_t seed) {
  const std::vector<std::filesystem::path> all = detail::checkpoints_in(directory);
  if (all.empty()) return false;
  const std::string path = all.back().string();
  const std::vector<tensor_entry> entries = read_tensor_file(path);
  const auto find = [&](const std::string& name) -> const tensor_entry& {
    for (const tensor_entry& e : entries)
      if (e.name == name) return e;
    throw error("lamina: " + path + ": expected an entry " + name + ", found none");
  };
  if (find("@optimizer@").bytes != Opt::type)
    throw error("lamina: " + path + ": expected a checkpoint of optimizer " +
                std::string(Opt::type) + ", found " + find("@optimizer@").bytes);
  if (find("@seed@").as_number() != seed)
    throw error("lamina: " + path + ": expected a checkpoint with seed " + std::to_string(seed) +
                ", found " + std::to_string(find("@seed@").as_number()));
  const std::uint64_t step = find("@step@").as_number();
  const std::uint64_t pass = find("@pass@").as_number();
  const std::uint64_t batch = find("@batch@").as_number();
  // The accumulators are checked before the parameters change, so a mismatch changes nothing.
  const std::vector<tensor_entry> before = t.entries();
  t.assign(entries, path);
  try {
    t.trained().assign(entries, path);
  } catch (...) {
    t.assign(before, path);
    throw;
  }
  t.set_steps(static_cast<std::int64_t>(step));
  at = {static_cast<int>(pass), static_cast<std::int64_t>(batch)};
  return true;
}

}  // namespace lamina
