// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoints/checkpoint.hpp - the state with which a training run continues after a
// stop, bit for bit.
#pragma once

#include <lamina/core/config.hpp>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/checkpoints/training_position.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Returns the number in the name of a checkpoint ("checkpoint_12": 12); -1 for other names.
LAMINA_API_COLD std::int64_t checkpoint_serial(std::string_view name);

LAMINA_API_COLD std::string checkpoint_path(const std::string& directory, std::int64_t serial);

/// Returns the serials of the checkpoints in a directory, in ascending order.
LAMINA_API_COLD std::vector<std::int64_t> checkpoints_in(const std::string& directory);

/// The contents of a checkpoint in addition to parameters and accumulators.
struct checkpoint_facts {
  std::string_view optimizer;
  std::int64_t steps;
  training_position at;
  std::uint64_t seed;
  float rate_factor = 1;     // factor of the optimizer's learning rate
  bool sets_factor = false;  // the caller applies the factor in the file to the optimizer
};

/// Returns the factor of an optimizer's learning rate.
template <class Opt>
float rate_factor_of(const Opt& opt) {
  if constexpr (requires { opt.learning_rate.factor; })
    return opt.learning_rate.factor;
  else
    return 1;
}

/// Returns all entries of a checkpoint, in the order of its file.
LAMINA_API_COLD std::vector<tensor_entry> checkpoint_entries(const stored_arrays& values,
                                                             const stored_arrays& accumulators,
                                                             const checkpoint_facts& facts);

/// Removes all but the newest `keep` checkpoints; 0: removes none.
LAMINA_API_COLD void remove_old_checkpoints(const std::string& directory, int keep);

LAMINA_API_COLD void write_checkpoint(const std::string& directory, const stored_arrays& values,
                                      const stored_arrays& accumulators,
                                      const checkpoint_facts& facts, int keep);

/// Throws lamina::error unless all processes continue from the same checkpoint (-1: from none).
LAMINA_API_COLD void require_same_checkpoint(world& all, std::int64_t serial);

/// Returns the entries of the newest intact checkpoint, and its path; empty if the directory has no
/// checkpoint. `read(path)` reads a file. Damaged checkpoints are reported on standard error and
/// renamed, so that they do not count among the checkpoints to keep. If all are damaged, throws the
/// format_error of the newest one. If `all` is a world of several processes, each must call it;
/// they must find the same checkpoint, and rank 0 renames after all have read.
template <class Read>
LAMINA_COLD std::vector<tensor_entry> newest_whole_checkpoint(const std::string& directory,
                                                              std::string& path, const Read& read,
                                                              world* all = nullptr) {
  const std::vector<std::int64_t> serials = checkpoints_in(directory);
  for (std::size_t i = serials.size(); i-- > 0;) {
    path = checkpoint_path(directory, serials[i]);
    LAMINA_TRY {
      std::vector<tensor_entry> entries = read(path);
      if (all != nullptr) require_same_checkpoint(*all, serials[i]);
      for (std::size_t k = serials.size(); k-- > i + 1;) {
        if (all != nullptr && all->rank() != 0) break;
        const std::string damaged = checkpoint_path(directory, serials[k]);
        const bool renamed = detail::system::rename_file(damaged, damaged + ".damaged");
        std::fprintf(stderr, "lamina: %s is damaged%s: training goes on from %s\n", damaged.c_str(),
                     renamed ? " and now called .damaged" : "", path.c_str());
      }
      return entries;
    }
    LAMINA_CATCH(const format_error& e) {
      if (i == 0) break;
    }
  }
  if (serials.empty()) {
    if (all != nullptr) require_same_checkpoint(*all, -1);
    return {};
  }
  path = checkpoint_path(directory, serials.back());
  return read(path);
}

/// Reads a checkpoint from its entries. `facts` holds the expected optimizer and seed, and receives
/// the step and the position. If an error occurs, nothing is changed.
LAMINA_API_COLD void assign_checkpoint(const std::vector<tensor_entry>& entries,
                                       const std::string& path, const stored_arrays& values,
                                       const stored_arrays& accumulators, checkpoint_facts& facts);

/// Does the same with the newest intact checkpoint of a directory; returns false if there is none.
LAMINA_API_COLD bool read_checkpoint(const std::string& directory, const stored_arrays& values,
                                     const stored_arrays& accumulators, checkpoint_facts& facts,
                                     world* all);

/// Throws lamina::error if a run from the beginning is given a directory with checkpoints. Such a
/// run would remove its own checkpoints, which have smaller numbers than those of a longer earlier
/// run. A later run would then resume from the earlier run.
LAMINA_API_COLD void require_no_checkpoint(const std::string& directory);

#if LAMINA_DEFINES

std::int64_t checkpoint_serial(std::string_view name) {
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

std::string checkpoint_path(const std::string& directory, std::int64_t serial) {
  return text() << directory << "/checkpoint_" << serial;
}

std::vector<std::int64_t> checkpoints_in(const std::string& directory) {
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

std::vector<tensor_entry> checkpoint_entries(const stored_arrays& values,
                                             const stored_arrays& accumulators,
                                             const checkpoint_facts& facts) {
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
  if (facts.at.samples >= 0) {
    number("@samples@", static_cast<std::uint64_t>(facts.at.samples));
    if (facts.at.checksum != 0) number("@checksum@", facts.at.checksum);
  }
  if (!facts.at.finished.empty()) {
    number("@tasks@", facts.at.tasks);
    entries.push_back(tensor_entry::letters("@finished@", facts.at.finished));
  }
  if (facts.at.readers >= 0) number("@readers@", static_cast<std::uint64_t>(facts.at.readers));
  if (!facts.at.shards.empty()) {
    static_assert(sizeof(shard_position) == 16);
    // "@shares@" is the name of the shards in all checkpoints, also in those of earlier versions.
    const std::size_t bytes = facts.at.shards.size() * sizeof(shard_position);
    entries.push_back({"@shares@",
                       dtype::int64,
                       {facts.at.shards.size(), 2},
                       raw_bytes(std::string_view(
                           reinterpret_cast<const char*>(facts.at.shards.data()), bytes))});
  }
  if (facts.rate_factor != 1)
    number("@learning_rate_factor@", std::bit_cast<std::uint32_t>(facts.rate_factor));
  return entries;
}

void remove_old_checkpoints(const std::string& directory, int keep) {
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  // A failure to remove an old checkpoint must not end the run.
  for (std::size_t i = 0; keep > 0 && i + static_cast<std::size_t>(keep) < all.size(); ++i) {
    const std::string old = checkpoint_path(directory, all[i]);
    if (!detail::system::remove_path(old) && errno != ENOENT)
      std::fprintf(stderr, "lamina: %s cannot be removed: %s\n", old.c_str(),
                   reason_of(errno).c_str());
  }
}

void write_checkpoint(const std::string& directory, const stored_arrays& values,
                      const stored_arrays& accumulators, const checkpoint_facts& facts, int keep) {
  make_directories(directory);
  write_tensor_file(checkpoint_path(directory, facts.steps),
                    checkpoint_entries(values, accumulators, facts));
  remove_old_checkpoints(directory, keep);
}

void require_same_checkpoint(world& all, std::int64_t serial) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(all.size()));
  all.gather(&serial, sizeof serial, found.data());
  const auto name = [&](std::size_t rank) {
    return found[rank] < 0 ? std::string("none")
                           : std::string(text() << "checkpoint_" << found[rank]);
  };
  for (std::size_t r = 1; r < found.size(); ++r)
    if (found[r] != found[0])
      LAMINA_THROW error(
          text() << "lamina: train: expected the same newest checkpoint in each process, "
                    "found "
                 << name(0) << " in rank 0 and " << name(r) << " in rank " << r);
}

void assign_checkpoint(const std::vector<tensor_entry>& entries, const std::string& path,
                       const stored_arrays& values, const stored_arrays& accumulators,
                       checkpoint_facts& facts) {
  const auto find = [&](std::string_view name) -> const tensor_entry& {
    for (std::size_t i = entries.size(); i-- > 0;)  // from the end, because a parameter may have
                                                    // any name
      if (entries[i].name == name) return entries[i];
    LAMINA_THROW error(text() << "lamina: " << path << ": expected an entry " << name
                              << ", found none");
  };
  if (find("@optimizer@").bytes.view() != facts.optimizer)
    LAMINA_THROW error(text() << "lamina: " << path << ": expected a checkpoint of optimizer "
                              << facts.optimizer << ", found " << find("@optimizer@").bytes.view());
  if (find("@seed@").as_number() != facts.seed)
    LAMINA_THROW error(text() << "lamina: " << path << ": expected a checkpoint with seed "
                              << facts.seed << ", found " << find("@seed@").as_number());
  facts.steps = static_cast<std::int64_t>(find("@step@").as_number());
  facts.at.pass = static_cast<int>(find("@pass@").as_number());
  facts.at.batch = static_cast<std::int64_t>(find("@batch@").as_number());
  const std::size_t arrays = values.size() + accumulators.size();
  float factor = 1;
  for (std::size_t i = arrays; i < entries.size(); ++i) {
    const tensor_entry& e = entries[i];
    if (e.name == "@samples@") facts.at.samples = static_cast<std::int64_t>(e.as_number());
    if (e.name == "@checksum@") facts.at.checksum = e.as_number();
    if (e.name == "@tasks@") facts.at.tasks = e.as_number();
    if (e.name == "@finished@") facts.at.finished = e.bytes.view();
    if (e.name == "@readers@") facts.at.readers = static_cast<int>(e.as_number());
    if (e.name == "@shares@" && e.bytes.size() % sizeof(shard_position) == 0) {
      facts.at.shards.resize(e.bytes.size() / sizeof(shard_position));
      if (!facts.at.shards.empty())
        std::memcpy(facts.at.shards.data(), e.bytes.data(), e.bytes.size());
    }
    if (e.name == "@learning_rate_factor@")
      factor = std::bit_cast<float>(static_cast<std::uint32_t>(e.as_number()));
  }
  if (!facts.sets_factor && factor != facts.rate_factor)
    LAMINA_THROW error(
        (text() << "lamina: " << path << ": expected learning_rate.factor = ")
            .print("%.9g", static_cast<double>(factor))
            .print(" as when it was written, found %.9g; set it before training goes on",
                   static_cast<double>(facts.rate_factor)));
  facts.rate_factor = factor;
  // Both are checked before anything is changed.
  values.check_entries(entries, path);
  accumulators.check_entries(entries, path);
  if (arrays >= entries.size() || entries[arrays].name != "@optimizer@")
    for (const tensor_entry& e : entries)
      if (!e.name.starts_with('@') && !values.has(e.name) && !accumulators.has(e.name))
        LAMINA_THROW error(text() << "lamina: " << path
                                  << ": expected a checkpoint of this program, found " << e.name
                                  << " " << text().list(e.dims) << ", which it does not have");
  const auto new_values = values.find_all(entries), states = accumulators.find_all(entries);
  stored_arrays::assign(new_values);
  stored_arrays::assign(states);
}

bool read_checkpoint(const std::string& directory, const stored_arrays& values,
                     const stored_arrays& accumulators, checkpoint_facts& facts, world* all) {
  std::string path;
  const std::vector<tensor_entry> entries = newest_whole_checkpoint(
      directory, path, [](const std::string& p) { return read_tensor_file(p); }, all);
  if (entries.empty()) return false;
  assign_checkpoint(entries, path, values, accumulators, facts);
  return true;
}

void require_no_checkpoint(const std::string& directory) {
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  if (!all.empty())
    LAMINA_THROW error(text() << "lamina: train: expected a directory without checkpoints, or "
                                 "checkpoint.resume = true, found "
                              << checkpoint_path(directory, all.back()));
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Pointers to the functions that access files. They are passed as an argument, so that only a
/// program that names a directory contains this code.
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

}}  // namespace lamina
