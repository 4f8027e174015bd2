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

/// The ids of one look-up in a mini-batch. Ids outside of the table, and the id `padding`, are
/// ignored.
struct looked_up_ids {
  int table;
  const std::int64_t* ids;
  std::size_t count;
  std::int64_t padding;
};

/// An array in the layout of a sharded table: the table itself or one of its accumulators.
struct embedding_array {
  int table;
  std::string name;  // the name of the array in files
  float* memory;
};

/// The accumulators of an optimizer for sharded tables. A process has only the accumulators for its
/// own rows.
class embedding_states {
 public:
  virtual ~embedding_states() = default;
  /// Returns the memory of accumulator s of a table, in the layout of the whole table.
  virtual float* at(int table, int s) const = 0;
};

/// Tables whose rows are divided over processes. The memory of a process has its own rows
/// [first(t), end(t)) of table t, and the rows of other processes that the last fetch() has
/// received. The address range has the size of the whole table, but pages without such rows use no
/// physical memory. In fetch(), reduce_rows(), all_reduce_sum() and write() the processes exchange
/// data, so all processes must call them the same number of times and in the same order. With
/// parameter servers, only the trainers call them during a training, and a trainer may call fetch()
/// at any time.
class sharded_embedding {
 public:
  virtual ~sharded_embedding() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::vector<embedding_table>& tables() const { return tables_; }
  /// Whether parameter servers own the rows.
  bool is_served() const { return is_served_; }
  /// Rows [first(table), end(table)) belong to this process.
  virtual int first(int table) const = 0;
  virtual int end(int table) const = 0;
  /// Returns the memory of a table, in the engine's layout of parameters.
  virtual float* memory(int table) const = 0;

  /// The reason for a fetch, which must be the same in all processes.
  enum class purpose : int { training, evaluation };
  /// Receives the current values of the rows that these look-ups select and other processes own. A
  /// row that several ids select is sent only once.
  virtual void fetch(const looked_up_ids* of, std::size_t count, purpose why) = 0;
  /// Sends each row of a sparse gradient to the process that owns the row of the table. The owner
  /// adds up the rows of all parts of the mini-batch in the order of the parts, with the parts'
  /// weights, so the sum has the same bits as in one process with all parts. The pointer mine[p]
  /// refers to the gradient of part p of this process; reduce_rows() replaces the gradient at
  /// mine[0] by the sums for the own rows.
  virtual void reduce_rows(int table, engine::cpu::basic_selected_rows<float>* const* mine,
                           const part_weights& weights) = 0;
  virtual void reduce_rows(int table, engine::cpu::basic_selected_rows<double>* const* mine,
                           const part_weights& weights) = 0;
  /// Returns the sum of squares of a table's summed gradients over all processes; `mine` is the sum
  /// over the own rows.
  virtual double all_reduce_sum(int table, double mine) = 0;
  /// Makes `count` accumulators per table, with all elements of accumulator s set to initial[s].
  virtual std::shared_ptr<embedding_states> make_states(int count, const float* initial) = 0;

  /// Sets `count` own rows, from first_row on, to row-major elements of the table's type.
  virtual void import_rows(int table, int first_row, int count, const void* from) = 0;
  /// Writes a file in the format of write_tensor_file() on rank 0. The contents of entries without
  /// bytes come from `arrays`, which must have the same order, and are sent to rank 0 in pieces, so
  /// that no process needs memory for a whole array.
  virtual void write(const std::string& path, const std::vector<tensor_entry>& entries,
                     const std::vector<embedding_array>& arrays) = 0;
  /// Reads and verifies a file, but keeps no bytes of the entries that `arrays` names. After it,
  /// read_rows() reads the own rows of `arrays` from the same file.
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
