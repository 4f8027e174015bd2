// SPDX-License-Identifier: Apache-2.0
// lamina/model/divided/divided_tables.hpp - tables whose rows several processes divide, as a model
// sees them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lamina/core/dtype.hpp>

namespace lamina::inline LAMINA_ABI {

struct tensor_entry;
struct part_weights;
namespace engine::cpu {
template <class Real>
class basic_selected_rows;
}

/// A table [rows, columns] of floats or doubles that several processes divide.
struct divided_table {
  std::string name;
  int rows, columns;
  dtype type;
};

/// The ids of one look-up in a mini-batch. Rows outside of the table, and `padding`, are ignored.
struct looked_up_ids {
  int table;
  const std::int64_t* ids;
  std::size_t count;
  std::int64_t padding;
};

/// An array in the layout of a divided table: the table itself, or an accumulator of it.
struct divided_array {
  int table;
  std::string name;  // in files
  float* memory;
};

/// The accumulators of an optimizer for divided tables. A process has those of its own rows.
class divided_states {
 public:
  virtual ~divided_states() = default;
  /// State `s` of a table, in the layout of the whole table.
  virtual float* at(int table, int s) const = 0;
};

/// Tables whose rows several processes divide. Process r has rows [first(t), end(t)) of table t in
/// memory; of the others, those that fetch() has brought last. The memory has the layout of whole
/// tables, but pages that no row has touched take no place. All processes must call fetch(),
/// join(), add_up(), write() equally often and in the same order; with parameter servers, while a
/// training lasts, only the trainers call them, and fetch() at any time.
class divided_tables {
 public:
  virtual ~divided_tables() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::vector<divided_table>& tables() const { return tables_; }
  /// Whether parameter servers own the rows.
  bool is_served() const { return is_served_; }
  /// The rows of this process.
  virtual int first(int table) const = 0;
  virtual int end(int table) const = 0;
  /// The memory of a table, in the engine's layout of parameters.
  virtual float* memory(int table) const = 0;

  /// Why rows are fetched; all processes must agree.
  enum class purpose : int { training, evaluation };
  /// Brings the rows of these look-ups that other processes own, as they are there now. Sends and
  /// receives each row once.
  virtual void fetch(const looked_up_ids* of, std::size_t count, purpose why) = 0;
  /// Sends the rows of gradients to the processes that own them. These add them up in the order of
  /// the parts, with their weights: the bits are those of one process with all parts. mine[p] has
  /// the rows of local part p; the sums of the own rows replace mine[0].
  virtual void join(int table, engine::cpu::basic_selected_rows<float>* const* mine,
                    const part_weights& weights) = 0;
  virtual void join(int table, engine::cpu::basic_selected_rows<double>* const* mine,
                    const part_weights& weights) = 0;
  /// The sum over all processes of the squares of a table's joined gradients, where `mine` are
  /// those of the own rows.
  virtual double add_up(int table, double mine) = 0;
  /// Makes `count` accumulators for each table; all elements of number s are initial[s].
  virtual std::shared_ptr<divided_states> make_states(int count, const float* initial) = 0;

  /// Sets rows of this process to row-major elements of the table's type.
  virtual void import_rows(int table, int first_row, int count, const void* from) = 0;
  /// Writes a file of write_tensor_file(): rank 0 writes `entries`, those without bytes row by row
  /// from the arrays, which must have their order. Only pieces of an array are in the memory of one
  /// process at a time.
  virtual void write(const std::string& path, const std::vector<tensor_entry>& entries,
                     const std::vector<divided_array>& arrays) = 0;
  /// Reads and verifies a file; the entries with the names of `arrays` get no bytes. read_rows()
  /// then reads the rows of this process from the same file.
  virtual std::vector<tensor_entry> read(const std::string& path,
                                         const std::vector<divided_array>& arrays) = 0;
  virtual void read_rows(const std::string& path, const std::vector<divided_array>& arrays) = 0;

 protected:
  divided_tables(int rank, int ranks, std::vector<divided_table> tables)
      : rank_(rank), ranks_(ranks), tables_(static_cast<std::vector<divided_table>&&>(tables)) {}
  divided_tables(const divided_tables&) = delete;
  divided_tables& operator=(const divided_tables&) = delete;
  int rank_, ranks_;
  std::vector<divided_table> tables_;
  bool is_served_ = false;
};

}  // namespace lamina::inline LAMINA_ABI
