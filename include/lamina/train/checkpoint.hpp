// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoint.hpp - what a training run needs to go on after a stop, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/optimizer/checkpoint_directory.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina {

/// Where a training run stands: the next mini-batch is number `batch` of pass `pass`.
struct training_position {
  int pass = 0;
  std::int64_t batch = 0;
};

namespace detail {

/// "checkpoint_12" -> 12; -1 for names that no checkpoint has.
LAMINA_COLD inline std::int64_t checkpoint_serial(std::string_view name) {
  const std::string_view prefix = "checkpoint_";
  if (name.size() <= prefix.size() || name.substr(0, prefix.size()) != prefix) return -1;
  name.remove_prefix(prefix.size());
  if (name[0] == '0' && name.size() > 1) return -1;
  std::int64_t n = 0;
  for (const char c : name) {
    if (c < '0' || c > '9' || n > 1'000'000'000'000) return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

LAMINA_COLD inline std::string checkpoint_path(const std::string& directory, std::int64_t serial) {
  return text() << directory << "/checkpoint_" << serial;
}

/// The serials of the checkpoints in a directory, the newest last.
LAMINA_COLD inline std::vector<std::int64_t> checkpoints_in(const std::string& directory) {
  std::vector<std::int64_t> found;
  for_each_name(directory, [&](std::string_view name) {
    const std::int64_t serial = checkpoint_serial(name);
    if (serial < 0) return;
    found.push_back(serial);
    for (std::size_t i = found.size() - 1; i > 0 && found[i - 1] > found[i]; --i)
      std::swap(found[i - 1], found[i]);
  });
  return found;
}

/// What a checkpoint holds beside parameters and accumulators.
struct checkpoint_facts {
  std::string_view optimizer;
  std::int64_t steps;
  training_position at;
  std::uint64_t seed;
};

LAMINA_COLD inline void write_checkpoint(const std::string& directory, const stored_arrays& values,
                                         const stored_arrays& accumulators,
                                         const checkpoint_facts& facts, int keep) {
  make_directories(directory);
  std::vector<tensor_entry> entries;
  values.append_to(entries);
  accumulators.append_to(entries);
  entries.push_back(tensor_entry::letters("@optimizer@", facts.optimizer));
  const auto number = [&](const char* name, std::uint64_t value) {
    entries.push_back(tensor_entry::number(name, value));
  };
  number("@step@", static_cast<std::uint64_t>(facts.steps));
  number("@pass@", static_cast<std::uint64_t>(facts.at.pass));
  number("@batch@", static_cast<std::uint64_t>(facts.at.batch));
  number("@seed@", facts.seed);
  write_tensor_file(checkpoint_path(directory, facts.steps), entries);
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  for (std::size_t i = 0; keep > 0 && i + static_cast<std::size_t>(keep) < all.size(); ++i)
    remove_file(checkpoint_path(directory, all[i]));
}

/// `facts` come with the optimizer and the seed that are expected, and go with step and position.
LAMINA_COLD inline bool read_checkpoint(const std::string& directory, const stored_arrays& values,
                                        const stored_arrays& accumulators,
                                        checkpoint_facts& facts) {
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  if (all.empty()) return false;
  const std::string path = checkpoint_path(directory, all.back());
  const std::vector<tensor_entry> entries = read_tensor_file(path);
  const auto find = [&](std::string_view name) -> const tensor_entry& {
    for (std::size_t i = entries.size(); i-- > 0;)  // a parameter may have any name
      if (entries[i].name == name) return entries[i];
    throw error(text() << "lamina: " << path << ": expected an entry " << name << ", found none");
  };
  if (find("@optimizer@").bytes.view() != facts.optimizer)
    throw error(text() << "lamina: " << path << ": expected a checkpoint of optimizer "
                       << facts.optimizer << ", found " << find("@optimizer@").bytes.view());
  if (find("@seed@").as_number() != facts.seed)
    throw error(text() << "lamina: " << path << ": expected a checkpoint with seed " << facts.seed
                       << ", found " << find("@seed@").as_number());
  facts.steps = static_cast<std::int64_t>(find("@step@").as_number());
  facts.at.pass = static_cast<int>(find("@pass@").as_number());
  facts.at.batch = static_cast<std::int64_t>(find("@batch@").as_number());
  const std::size_t arrays = values.size() + accumulators.size();
  // Both are checked before either changes.
  values.check(entries, path);
  accumulators.check(entries, path);
  if (arrays >= entries.size() || entries[arrays].name != "@optimizer@")
    for (const tensor_entry& e : entries)
      if (!e.name.starts_with('@') && !values.has(e.name) && !accumulators.has(e.name))
        throw error(text() << "lamina: " << path
                           << ": expected a checkpoint of this program, found " << e.name << " "
                           << text().list(e.dims) << ", which it does not have");
  values.assign(entries);
  accumulators.assign(entries);
  return true;
}

/// A run from the beginning would remove its own checkpoints behind those of another that has come
/// further, and a later one would go on from those.
LAMINA_COLD inline void require_no_checkpoint(const std::string& directory) {
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  if (!all.empty())
    throw error(text() << "lamina: train: expected a directory without checkpoints, or "
                          "checkpoint.resume = true, found "
                       << checkpoint_path(directory, all.back()));
}

}  // namespace detail

/// The code that knows files: an argument where only a program that names a directory shall have
/// it.
struct checkpoint_files {
  decltype(&detail::write_checkpoint) write;
  decltype(&detail::read_checkpoint) read;
  decltype(&detail::require_no_checkpoint) require_none;
};
inline const checkpoint_files& checkpoint_functions() {
  static constexpr checkpoint_files all{&detail::write_checkpoint, &detail::read_checkpoint,
                                        &detail::require_no_checkpoint};
  return all;
}

/// Writes parameters, accumulators, step, position and seed to a new file `checkpoint_<steps>` of
/// the directory, and removes all but the newest `keep` (0: none is removed). The file appears
/// whole or not at all.
template <class P, class Opt>
LAMINA_COLD void save_checkpoint(const file_path& directory, trainer<P, Opt>& t,
                                 training_position at, std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  files.write(directory.string(), t.trained().arrays(), t.arrays(),
              {Opt::type, t.steps(), at, seed}, keep);
}

/// Puts a training run back to where the newest checkpoint of the directory left it; returns false
/// when there is none. Throws format_error for a damaged file and lamina::error for one of another
/// program, optimizer or seed; nothing is changed then.
template <class P, class Opt>
LAMINA_COLD bool load_checkpoint(const file_path& directory, trainer<P, Opt>& t,
                                 training_position& at, std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions()) {
  detail::checkpoint_facts facts{Opt::type, 0, {}, seed};
  if (!files.read(directory.string(), t.trained().arrays(), t.arrays(), facts)) return false;
  t.set_steps(facts.steps);
  at = facts.at;
  return true;
}

}  // namespace lamina
