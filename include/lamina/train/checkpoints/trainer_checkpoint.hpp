// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoints/trainer_checkpoint.hpp - writes checkpoints of a trainer, and reads
// them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Writes a checkpoint with sharded tables and further entries; all processes must call it.
template <class Trainer>
LAMINA_COLD void write_sharded(Trainer& t, const std::string& path, const checkpoint_facts& facts,
                               std::vector<tensor_entry> more) {
  std::vector<tensor_entry> entries =
      checkpoint_entries(t.arrays_but_tables(false), t.arrays_but_tables(true), facts);
  for (tensor_entry& e : more) entries.push_back(std::move(e));
  t.trained().embedding()->write(path, entries, t.embedding_arrays());
}
/// Calls assign_checkpoint() for entries that sharded_embedding::read() has read.
template <class Trainer>
LAMINA_COLD void assign_sharded(Trainer& t, const std::vector<tensor_entry>& entries,
                                const std::string& path, checkpoint_facts& facts) {
  assign_checkpoint(entries, path, t.arrays_but_tables(false), t.arrays_but_tables(true), facts);
  t.trained().embedding()->read_rows(path, t.embedding_arrays());
}

}  // namespace detail

/// The state of a trainer that a checkpoint contains.
struct checkpoint_state {
  stored_arrays values, accumulators;
  const char* optimizer;  // the type of the optimizer
  std::int64_t steps;
  float rate_factor;

  LAMINA_COLD detail::checkpoint_facts facts(const training_position& at,
                                             std::uint64_t seed) const {
    return {optimizer, steps, at, seed, rate_factor};
  }
};
template <class Trainer>
LAMINA_COLD checkpoint_state state_of(Trainer& t) {
  return {t.trained().arrays(), t.arrays(), std::remove_cvref_t<decltype(t.optimizer())>::type,
          t.steps(), detail::rate_factor_of(t.optimizer())};
}

/// Writes parameters, accumulators, step, position and seed to a new file `checkpoint_<steps>` of
/// the directory. Then removes all but the newest `keep` checkpoints (0: removes none). The file is
/// complete or does not exist.
LAMINA_COLD inline void save_state(const file_path& directory, const checkpoint_state& state,
                                   const training_position& at, std::uint64_t seed, int keep,
                                   const checkpoint_files& files) {
  files.write(directory.string(), state.values, state.accumulators, state.facts(at, seed), keep);
}
/// Does the same for a trainer, whose tables may be divided over processes.
template <class Trainer>
LAMINA_COLD void save_checkpoint(const file_path& directory, Trainer& t,
                                 const training_position& at, std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  if constexpr (requires { t.embedding_arrays(); })
    if (sharded_embedding* const tables = t.trained().embedding()) {
      const detail::checkpoint_facts facts{std::remove_cvref_t<decltype(t.optimizer())>::type,
                                           t.steps(), at, seed,
                                           detail::rate_factor_of(t.optimizer())};
      if (tables->rank() == 0) make_directories(directory.string());
      detail::write_sharded(t, detail::checkpoint_path(directory.string(), t.steps()), facts, {});
      if (tables->rank() == 0) detail::remove_old_checkpoints(directory.string(), keep);
      return;
    }
  save_state(directory, state_of(t), at, seed, keep, files);
}

/// Restores arrays from the newest intact checkpoint of the directory, and returns its step and
/// position by reference; returns false if there is none.
LAMINA_COLD inline bool load_state(const file_path& directory, const checkpoint_state& into,
                                   std::int64_t& steps, training_position& at, std::uint64_t seed,
                                   const checkpoint_files& files, world* all) {
  detail::checkpoint_facts facts = into.facts({}, seed);
  if (!files.read(directory.string(), into.values, into.accumulators, facts, all)) return false;
  steps = facts.steps;
  at = facts.at;
  return true;
}
/// Restores a training run from the newest intact checkpoint of the directory; returns false if
/// there is none. Reports a damaged checkpoint on standard error and renames it; throws
/// format_error if all are damaged. Throws lamina::error for a checkpoint of another program,
/// optimizer or seed, and then changes nothing. With several processes, `all`, each must call it,
/// and they must find the same checkpoint.
template <class Trainer>
LAMINA_COLD bool load_checkpoint(const file_path& directory, Trainer& t, training_position& at,
                                 std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions(),
                                 world* all = nullptr) {
  if constexpr (requires { t.embedding_arrays(); })
    if (t.trained().embedding() != nullptr) {
      detail::checkpoint_facts facts{std::remove_cvref_t<decltype(t.optimizer())>::type,
                                     0,
                                     {},
                                     seed,
                                     detail::rate_factor_of(t.optimizer())};
      std::string path;
      const std::vector<embedding_array> arrays = t.embedding_arrays();
      const std::vector<tensor_entry> entries = detail::newest_whole_checkpoint(
          directory.string(), path,
          [&](const std::string& p) { return t.trained().embedding()->read(p, arrays); }, all);
      if (entries.empty()) return false;
      detail::assign_sharded(t, entries, path, facts);
      t.set_steps(facts.steps);
      at = facts.at;
      return true;
    }
  std::int64_t steps = 0;
  if (!load_state(directory, state_of(t), steps, at, seed, files, all)) return false;
  t.set_steps(steps);
  return true;
}

}}  // namespace lamina
