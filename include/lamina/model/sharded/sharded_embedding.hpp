// SPDX-License-Identifier: Apache-2.0
// lamina/model/sharded/sharded_embedding.hpp - the interface of embedding tables whose rows
// are sharded over processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI {

struct tensor_entry;
struct part_weights;
namespace engine::cpu {
template <class Real>
class basic_selected_rows;
}

/// A table [rows, columns] of floats or doubles whose rows are sharded over processes.
struct embedding_table {
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

/// An array in the layout of a sharded table: the table itself, or an accumulator of it.
struct embedding_array {
  int table;
  std::string name;  // the name of the array in files
  float* memory;
};

/// The accumulators of an optimizer for sharded tables. A process holds only those of its own rows.
class embedding_states {
 public:
  virtual ~embedding_states() = default;
  /// Returns state `s` of a table, in the layout of the whole table.
  virtual float* at(int table, int s) const = 0;
};

/// Tables whose rows are sharded over processes. Process r holds rows [first(t), end(t)) of table t
/// in memory, and the rows of other processes that the last fetch() has received. The memory has
/// the layout of whole tables, but pages that no row has touched use no physical memory. All
/// processes must call fetch(), reduce_rows(), all_reduce_sum() and write() equally often and in
/// the same order. With parameter servers, during a training, only the trainers call them, and may
/// call fetch() at any time.
class sharded_embedding {
 public:
  virtual ~sharded_embedding() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::vector<embedding_table>& tables() const { return tables_; }
  /// Whether parameter servers own the rows.
  bool is_served() const { return is_served_; }
  /// The rows of this process are [first, end).
  virtual int first(int table) const = 0;
  virtual int end(int table) const = 0;
  /// Returns the memory of a table, in the engine's layout of parameters.
  virtual float* memory(int table) const = 0;

  /// The reason for a fetch; all processes must agree.
  enum class purpose : int { training, evaluation };
  /// Receives the rows of these look-ups that other processes own, with their current values. Each
  /// row is sent only once.
  virtual void fetch(const looked_up_ids* of, std::size_t count, purpose why) = 0;
  /// Sends the rows of gradients to the processes that own them. The owners sum them in the order
  /// of the parts, with their weights, so the bits are the same as in one process with all parts.
  /// mine[p] has the rows of local part p; the sums of the own rows replace mine[0].
  virtual void reduce_rows(int table, engine::cpu::basic_selected_rows<float>* const* mine,
                           const part_weights& weights) = 0;
  virtual void reduce_rows(int table, engine::cpu::basic_selected_rows<double>* const* mine,
                           const part_weights& weights) = 0;
  /// Returns the sum over all processes of the squares of a table's joined gradients; `mine` is the
  /// sum over the own rows.
  virtual double all_reduce_sum(int table, double mine) = 0;
  /// Makes `count` accumulators for each table; all elements of accumulator s are initial[s].
  virtual std::shared_ptr<embedding_states> make_states(int count, const float* initial) = 0;

  /// Sets rows of this process from row-major elements of the table's type.
  virtual void import_rows(int table, int first_row, int count, const void* from) = 0;
  /// Writes a file of write_tensor_file() on rank 0. Entries without bytes are written row by row
  /// from `arrays`, which must have the same order. No process holds more than pieces of an array
  /// in memory.
  virtual void write(const std::string& path, const std::vector<tensor_entry>& entries,
                     const std::vector<embedding_array>& arrays) = 0;
  /// Reads and verifies a file, but loads no data of the entries that `arrays` names. read_rows()
  /// then reads the rows of this process from the same file.
  virtual std::vector<tensor_entry> read(const std::string& path,
                                         const std::vector<embedding_array>& arrays) = 0;
  virtual void read_rows(const std::string& path, const std::vector<embedding_array>& arrays) = 0;

 protected:
  sharded_embedding(int rank, int ranks, std::vector<embedding_table> tables)
      : rank_(rank), ranks_(ranks), tables_(static_cast<std::vector<embedding_table>&&>(tables)) {}
  sharded_embedding(const sharded_embedding&) = delete;
  sharded_embedding& operator=(const sharded_embedding&) = delete;
  int rank_, ranks_;
  std::vector<embedding_table> tables_;
  bool is_served_ = false;
};

}}  // namespace lamina
