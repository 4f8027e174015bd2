// SPDX-License-Identifier: Apache-2.0
// lamina/model/sharded/model_embedding.hpp - the sharded tables of a model.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/parameters/initialize.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/sharded/distributed_tables.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// A world that can divide the tables of a model over its processes, such as
/// `distributed::session`.
template <class World>
concept shards_embeddings = requires(World& w, std::vector<embedding_table> tables,
                                     std::uint64_t seed) {
  w.make_embedding(tables, seed);
};

/// Throws a lamina::error with the reason why the table with this name cannot be divided over
/// processes.
[[noreturn]] LAMINA_API_COLD void fail_undividable(const std::string& name, undividable why);

/// The sharded tables of a model. A program without look-ups with is_distributed has none.
template <program_type P, bool = has_distributed_tables<P>>
struct model_embedding {};

/// Manages the sharded tables of a model. A model in one process has none.
template <program_type P>
class model_embedding<P, true> {
 public:
  using real = real_of<P>;
  static constexpr const auto& all = distributed_tables<P>::all;

  sharded_embedding* get() const { return tables_.get(); }
  /// Whether parameter i is a sharded table.
  bool has(int i) const { return tables_ != nullptr && all.table_of[i] >= 0; }

  /// Divides the tables over the processes of a world, and stores the addresses of their memory in
  /// `pointers`, by parameter.
  template <class World>
  LAMINA_COLD void divide(World& world, std::uint64_t seed, float** pointers) {
    if (world.size() == 1) return;
    std::vector<embedding_table> made;
    for (int t = 0; t < all.tables; ++t) {
      const parameter_info info = parameters_in<P>().describe(all.parameter[t]);
      if (all.reason[t] != undividable::none) fail_undividable(info.name, all.reason[t]);
      made.push_back({info.name, info.rows, info.columns, info.type});
    }
    tables_ = world.make_embedding(std::move(made), seed);
    for (int t = 0; t < all.tables; ++t) pointers[all.parameter[t]] = tables_->memory(t);
  }
  /// If parameter i is a sharded table, sets the rows that this process owns to their initial
  /// values and returns true; otherwise returns false.
  LAMINA_COLD bool initialise(int i, const program_view& p, const operator_desc& op,
                              std::uint64_t seed) const {
    if (!has(i)) return false;
    const int t = all.table_of[i], most = 4096;
    const auto wide =
        static_cast<std::size_t>(tables_->tables()[static_cast<std::size_t>(t)].columns);
    for (int r = tables_->first(t); r < tables_->end(t); r += most) {
      const int n = (std::min)(most, tables_->end(t) - r);
      const std::vector<real> values = initial_values<real>(
          p, op, seed, static_cast<std::uint64_t>(i), static_cast<std::size_t>(r) * wide,
          static_cast<std::size_t>(n) * wide);
      tables_->import_rows(t, r, n, values.data());
    }
    return true;
  }

  /// Writes all parameters and the entries `more` to a file. All processes must call it, because
  /// each sends its rows.
  LAMINA_COLD void save(const std::string& path, float* const* memory,
                        std::vector<tensor_entry> more) const {
    const owned_array<float*> kept = without_tables(memory, 1);
    const stored_arrays here = parameters_for_files<P>(kept.get());
    std::vector<tensor_entry> entries;
    here.append_to(entries);
    for (tensor_entry& e : more) entries.push_back(std::move(e));
    tables_->write(path, entries, arrays_of(memory));
  }
  /// read() returns the entries of a file of save(), without bytes for sharded tables. assign()
  /// then sets the parameters to the entries and reads the own rows of sharded tables from the same
  /// file.
  LAMINA_COLD std::vector<tensor_entry> read(const std::string& path, float* const* memory) const {
    return tables_->read(path, arrays_of(memory));
  }
  LAMINA_COLD void assign(const std::vector<tensor_entry>& from, const std::string& path,
                          float* const* memory) const {
    const owned_array<float*> kept = without_tables(memory, 1);
    const stored_arrays here = parameters_for_files<P>(kept.get());
    here.check_entries(from, path);
    stored_arrays::assign(here.find_all(from));
    tables_->read_rows(path, arrays_of(memory));
  }

  /// Throws lamina::error if rows of a table are in other processes.
  void require_whole() const {
    if (tables_ != nullptr) fail_divided();
  }
  /// Returns a copy of `arrays`, which has `of_each` pointers per parameter, with null for divided
  /// tables.
  LAMINA_COLD owned_array<float*> without_tables(float* const* arrays, int of_each) const {
    const int count = counts_of<P>.parameters * of_each;
    owned_array<float*> kept(static_cast<std::size_t>(at_least_one(count)));
    for (int i = 0; i < count; ++i) kept[i] = has(i / of_each) ? nullptr : arrays[i];
    return kept;
  }
  /// Appends those of `arrays`, which has from.of_each pointers per parameter, that belong to
  /// sharded tables.
  LAMINA_COLD void append_to(std::vector<embedding_array>& to, const stored_arrays& from,
                             float* const* arrays) const {
    for (int i = 0; i < counts_of<P>.parameters; ++i)
      for (int s = 0; has(i) && s < from.of_each; ++s)
        to.push_back({all.table_of[i], from.name_of(from.parameters.describe(i), s),
                      arrays[i * from.of_each + s]});
  }

 private:
  LAMINA_COLD std::vector<embedding_array> arrays_of(float* const* memory) const {
    std::vector<embedding_array> arrays;
    append_to(arrays, parameters_for_files<P>(memory), memory);
    return arrays;
  }
  [[noreturn]] LAMINA_COLD void fail_divided() const {
    text rows;
    if (tables_->first(0) == tables_->end(0))
      rows << "no rows";
    else
      rows << "rows " << tables_->first(0) << " to " << tables_->end(0) - 1;
    LAMINA_THROW error(
        text() << "lamina: model: expected all rows of table " << tables_->tables()[0].name
               << ", found " << rows << ": " << tables_->ranks()
               << " processes divide it; save() in all of them writes a file that a model "
                  "of one process loads");
  }

  std::shared_ptr<sharded_embedding> tables_;
};

#if LAMINA_DEFINES

void fail_undividable(const std::string& name, undividable why) {
  const char* const expected[] = {"", "ids that a data layer feeds", "look-ups with is_distributed",
                                  "look-ups outside of loops and branches"};
  const char* const found[] = {"", "ids that the program computes", "another reader of the table",
                               "one in a block"};
  const int i = static_cast<int>(why);
  LAMINA_THROW error(text() << "lamina: model: table " << name << ": expected " << expected[i]
                            << ", found " << found[i] << "; leave is_distributed out");
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
