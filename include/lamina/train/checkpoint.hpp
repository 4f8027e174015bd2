// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoint.hpp - the state with which a training run continues after a stop, bit for
// bit.
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

#include <lamina/core/checksum.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/stored_arrays.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/optimizer/checkpoint_directory.hpp>
#include <lamina/train/world.hpp>

namespace lamina::inline LAMINA_ABI {

/// How much of a pass one process has read whose mini-batches are its share.
struct share_position {
  std::int64_t samples = 0;
  std::uint64_t checksum = 0;
};

/// The position of a training run: the next mini-batch is number `batch` of pass `pass`. A resumed
/// run reads the earlier mini-batches of the pass again. They must have `samples` samples in total
/// and this checksum; where each process reads its share, also each of `shares`, in the order of
/// the ranks. With shared_tasks, it reads the chunks that are not finished instead.
struct training_position {
  int pass = 0;
  std::int64_t batch = 0;
  std::int64_t samples = -1;             // -1: not counted
  std::uint64_t checksum = 0;            // 0: not computed
  std::string finished{};                // what shared_tasks::finished() returned; empty: no tasks
  std::uint64_t tasks = 0;               // shared_tasks::checksum()
  std::vector<share_position> shares{};  // empty: all processes read the same, or it is not known
  int readers = -1;  // the processes that read shares; 0: all read the same; -1: not known
};

/// Counts the part of a pass that a run has read: mini-batches, samples, and a running checksum.
/// The checksum covers all samples in their order and the ends of mini-batches.
class samples_of_pass {
 public:
  LAMINA_API LAMINA_COLD void add(int rows, checksum sum);
  /// Adds a mini-batch without a checksum.
  void add(int rows) {
    ++batches_;
    samples_ += rows;
  }
  std::int64_t batches() const { return batches_; }
  /// The position in pass `pass` after the mini-batches that were read.
  training_position position(int pass) const { return {pass, batches_, samples_, sum_}; }
  /// Continues from a position without the samples before it.
  LAMINA_API LAMINA_COLD void go_on(const training_position& at);
  /// Throws lamina::error unless the stopped run had read the same samples.
  LAMINA_API LAMINA_COLD void require(const training_position& stopped,
                                      const std::string& place) const;
  /// What the processes that train have read of their shares, by rank. All of them must call it.
  LAMINA_API LAMINA_COLD std::vector<share_position> shares(world& all) const;
  /// The same as require(), where each process reads its share. All of them must call it, and all
  /// throw the same error, which names the first rank that has read others.
  LAMINA_API LAMINA_COLD void require_shares(const training_position& stopped,
                                             const std::string& place, world& all) const;

 private:
  std::int64_t batches_ = 0, samples_ = 0;
  std::uint64_t sum_ = 0;
};

namespace detail {

/// The number in the name of a checkpoint ("checkpoint_12": 12); -1 for other names.
LAMINA_API_COLD std::int64_t checkpoint_serial(std::string_view name);

LAMINA_API_COLD std::string checkpoint_path(const std::string& directory, std::int64_t serial);

/// The serials of the checkpoints in a directory, the newest last.
LAMINA_API_COLD std::vector<std::int64_t> checkpoints_in(const std::string& directory);

/// The contents of a checkpoint besides parameters and accumulators.
struct checkpoint_facts {
  std::string_view optimizer;
  std::int64_t steps;
  training_position at;
  std::uint64_t seed;
  float rate_factor = 1;     // factor of the optimizer's learning rate
  bool sets_factor = false;  // the caller applies the factor in the file to the optimizer
};

/// The factor of an optimizer's learning rate.
template <class Opt>
float rate_factor_of(const Opt& opt) {
  if constexpr (requires { opt.learning_rate.factor; })
    return opt.learning_rate.factor;
  else
    return 1;
}

/// All entries of a checkpoint, in the order of its file.
LAMINA_API_COLD std::vector<tensor_entry> checkpoint_entries(const stored_arrays& values,
                                                             const stored_arrays& accumulators,
                                                             const checkpoint_facts& facts);

/// Removes all but the newest `keep` checkpoints; 0: removes none.
LAMINA_API_COLD void remove_old_checkpoints(const std::string& directory, int keep);

LAMINA_API_COLD void write_checkpoint(const std::string& directory, const stored_arrays& values,
                                      const stored_arrays& accumulators,
                                      const checkpoint_facts& facts, int keep);

/// Throws lamina::error if a position in the middle of a pass was reached by another number of
/// processes, each of which read its share. `processes`: those that read shares now; 0: all read
/// the same.
LAMINA_API_COLD void require_same_shares(const training_position& at, const std::string& place,
                                         int processes);

/// Throws lamina::error unless all processes go on from the same checkpoint; -1: from none.
LAMINA_API_COLD void require_same_checkpoint(world& all, std::int64_t serial);

/// The entries of the newest intact checkpoint, and its path; empty if the directory has no
/// checkpoint. `read(path)` reads a file. Reports damaged checkpoints on standard error and renames
/// them, so that they do not count among the checkpoints to keep. If all are damaged, throws the
/// format_error of the newest one. With several processes, `all`, each must call it; they must find
/// the same one, and rank 0 renames when all have read.
template <class Read>
LAMINA_COLD std::vector<tensor_entry> newest_whole_checkpoint(const std::string& directory,
                                                              std::string& path, const Read& read,
                                                              world* all = nullptr) {
  const std::vector<std::int64_t> serials = checkpoints_in(directory);
  for (std::size_t i = serials.size(); i-- > 0;) {
    path = checkpoint_path(directory, serials[i]);
    try {
      std::vector<tensor_entry> entries = read(path);
      if (all != nullptr) require_same_checkpoint(*all, serials[i]);
      for (std::size_t k = serials.size(); k-- > i + 1;) {
        if (all != nullptr && all->rank() != 0) break;
        const std::string damaged = checkpoint_path(directory, serials[k]);
        const bool renamed = std::rename(damaged.c_str(), (damaged + ".damaged").c_str()) == 0;
        std::fprintf(stderr, "lamina: %s is damaged%s: training goes on from %s\n", damaged.c_str(),
                     renamed ? " and now called .damaged" : "", path.c_str());
      }
      return entries;
    } catch (const format_error&) {
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

/// The same from the newest intact checkpoint of a directory; returns false when there is none.
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
  if (!facts.at.shares.empty()) {
    static_assert(sizeof(share_position) == 16);
    const std::size_t bytes = facts.at.shares.size() * sizeof(share_position);
    entries.push_back({"@shares@",
                       dtype::int64,
                       {facts.at.shares.size(), 2},
                       raw_bytes(std::string_view(
                           reinterpret_cast<const char*>(facts.at.shares.data()), bytes))});
  }
  if (facts.rate_factor != 1)
    number("@learning_rate_factor@", std::bit_cast<std::uint32_t>(facts.rate_factor));
  return entries;
}

void remove_old_checkpoints(const std::string& directory, int keep) {
  const std::vector<std::int64_t> all = checkpoints_in(directory);
  // An old checkpoint that cannot be removed, or that is already removed, must not end a run.
  for (std::size_t i = 0; keep > 0 && i + static_cast<std::size_t>(keep) < all.size(); ++i) {
    const std::string old = checkpoint_path(directory, all[i]);
    if (std::remove(old.c_str()) != 0 && errno != ENOENT)
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
      throw error(text() << "lamina: train: expected the same newest checkpoint in each process, "
                            "found "
                         << name(0) << " in rank 0 and " << name(r) << " in rank " << r);
}

void require_same_shares(const training_position& at, const std::string& place, int processes) {
  if (at.batch == 0 || at.readers < 0 || at.readers == processes) return;
  const auto name = [](int readers) {
    if (readers == 0) return std::string("processes that all read the same");
    return std::string(text() << readers
                              << (readers == 1 ? " process that reads its share"
                                               : " processes that read their shares"));
  };
  throw error(text() << "lamina: train: the checkpoint in " << place
                     << " was made after mini-batch " << at.batch << " of pass " << at.pass
                     << ": expected " << name(at.readers) << " (.reads_shard) as then, found "
                     << name(processes)
                     << "; a checkpoint at the end of a pass goes on with any number");
}

void assign_checkpoint(const std::vector<tensor_entry>& entries, const std::string& path,
                       const stored_arrays& values, const stored_arrays& accumulators,
                       checkpoint_facts& facts) {
  const auto find = [&](std::string_view name) -> const tensor_entry& {
    for (std::size_t i = entries.size(); i-- > 0;)  // from the end, because a parameter may have
                                                    // any name
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
  float factor = 1;
  for (std::size_t i = arrays; i < entries.size(); ++i) {
    const tensor_entry& e = entries[i];
    if (e.name == "@samples@") facts.at.samples = static_cast<std::int64_t>(e.as_number());
    if (e.name == "@checksum@") facts.at.checksum = e.as_number();
    if (e.name == "@tasks@") facts.at.tasks = e.as_number();
    if (e.name == "@finished@") facts.at.finished = e.bytes.view();
    if (e.name == "@readers@") facts.at.readers = static_cast<int>(e.as_number());
    if (e.name == "@shares@" && e.bytes.size() % sizeof(share_position) == 0) {
      facts.at.shares.resize(e.bytes.size() / sizeof(share_position));
      if (!facts.at.shares.empty())
        std::memcpy(facts.at.shares.data(), e.bytes.data(), e.bytes.size());
    }
    if (e.name == "@learning_rate_factor@")
      factor = std::bit_cast<float>(static_cast<std::uint32_t>(e.as_number()));
  }
  if (!facts.sets_factor && factor != facts.rate_factor)
    throw error((text() << "lamina: " << path << ": expected learning_rate.factor = ")
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
        throw error(text() << "lamina: " << path
                           << ": expected a checkpoint of this program, found " << e.name << " "
                           << text().list(e.dims) << ", which it does not have");
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
    throw error(text() << "lamina: train: expected a directory without checkpoints, or "
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

#if LAMINA_DEFINES

void samples_of_pass::add(int rows, checksum sum) {
  ++batches_;
  samples_ += rows;
  const std::uint64_t both[2] = {sum_, sum.value()};
  checksum joined;
  joined.add(both, sizeof both);
  sum_ = joined.value();
}

void samples_of_pass::go_on(const training_position& at) {
  batches_ = at.batch;
  samples_ = at.samples;
  sum_ = at.checksum;
}

std::vector<share_position> samples_of_pass::shares(world& all) const {
  const share_position mine{samples_, sum_};
  std::vector<share_position> found(static_cast<std::size_t>(all.trainers()));
  all.gather_trainers(&mine, sizeof mine, found.data());
  return found;
}

void samples_of_pass::require_shares(const training_position& stopped, const std::string& place,
                                     world& all) const {
  // An older checkpoint has the share of rank 0 alone.
  const std::vector<share_position> expected =
      !stopped.shares.empty() ? stopped.shares
                              : std::vector<share_position>{{stopped.samples, stopped.checksum}};
  const std::vector<share_position> found = shares(all);
  for (std::size_t r = 0; r < expected.size() && r < found.size(); ++r) {
    const share_position &then = expected[r], &now = found[r];
    const bool same_count = then.samples < 0 || now.samples == then.samples;
    if (same_count && (then.checksum == 0 || now.checksum == then.checksum)) continue;
    text t;
    t << "lamina: train: the checkpoint in " << place << " was made after mini-batch "
      << stopped.batch << " of pass " << stopped.pass << ": expected that rank " << r
      << " reads the same " << then.samples << " samples as then, in the same order and "
      << "mini-batches, found ";
    std::size_t other = 0;
    while (other < expected.size() &&
           (expected[other].samples != now.samples || expected[other].checksum != now.checksum))
      ++other;
    if (other < expected.size())
      t << "those of rank " << other;
    else if (!same_count)
      t << now.samples;
    else
      t << "others";
    throw error(t << ": does each process read the files of its rank?");
  }
}

void samples_of_pass::require(const training_position& stopped, const std::string& place) const {
  const auto found = [&](const char* what, std::int64_t expected, std::int64_t read) {
    throw error(text() << "lamina: train: the checkpoint in " << place
                       << " was made after mini-batch " << stopped.batch << " of pass "
                       << stopped.pass << ": expected the same reader, which had read " << expected
                       << " " << what << " by then, found " << read);
  };
  if (batches_ != stopped.batch) found("mini-batches", stopped.batch, batches_);
  if (stopped.samples < 0) return;
  if (samples_ != stopped.samples)
    found("samples (is the batch size another one?)", stopped.samples, samples_);
  if (stopped.checksum != 0 && sum_ != stopped.checksum)
    throw error(text() << "lamina: train: the checkpoint in " << place
                       << " was made after mini-batch " << stopped.batch << " of pass "
                       << stopped.pass << ": expected the same " << samples_
                       << " samples in the same order and mini-batches, found others");
}

#endif  // LAMINA_DEFINES

}  // namespace lamina::inline LAMINA_ABI
