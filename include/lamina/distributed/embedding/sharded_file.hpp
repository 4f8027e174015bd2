// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/sharded_file.hpp - reads and writes models with sharded tables.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/checksum.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/embedding/sharded_table.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Writes and reads files of write_tensor_file() in which some arrays are divided over processes.
/// Rank 0 writes the file, and the other ranks send it their rows in pieces. Each process reads its
/// own rows from the file.
class sharded_file {
 public:
  sharded_file(process_group& group, const std::vector<sharded_table>& tables)
      : sharded_file(group, tables, group) {}
  /// `writers` are the first ranks of the group: these call write(), and all others call
  /// send_rows().
  sharded_file(process_group& group, const std::vector<sharded_table>& tables,
               process_group& writers)
      : group_(group), tables_(tables), writers_(writers) {}

  /// All writers must call it. Throws lamina::error in all of them if rank 0 cannot write.
  LAMINA_COLD void write(const std::string& path, const std::vector<tensor_entry>& entries,
                         const std::vector<embedding_array>& arrays) {
    std::exception_ptr failure;
    if (group_.rank() == 0)
      write_all(path, entries, arrays, failure);
    else
      for (const embedding_array& a : arrays) send_rows(a);
    const int failed = failure ? 1 : 0;
    std::vector<int> all(static_cast<std::size_t>(writers_.size()));
    writers_.gather(&failed, sizeof failed, all.data());
    if (failure) std::rethrow_exception(failure);
    if (all[0] != 0)
      throw error(text() << "lamina: " << path
                         << ": expected that rank 0 writes it, found that it "
                            "has failed");
  }

  /// Sends the rows of an array that this process owns to rank 0, which writes them.
  LAMINA_COLD void send_rows(const embedding_array& a) {
    bring(a, [](const std::byte*, std::size_t) {});
  }

  /// Reads and verifies a file, but loads no data of the entries that `arrays` names.
  LAMINA_COLD static std::vector<tensor_entry> read(const std::string& path,
                                                    const std::vector<embedding_array>& arrays) {
    binary_reader from(path);
    lamina::detail::tensor_file_reader reader(from);
    std::vector<tensor_entry> entries = reader.read_header();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      bool is_divided = false;
      for (const embedding_array& a : arrays) is_divided = is_divided || a.name == entries[i].name;
      if (is_divided)
        reader.verify_data(reader.sizes()[i]);
      else
        reader.read_data(entries[i], reader.sizes()[i]);
    }
    reader.finish();
    return entries;
  }

  /// Reads the rows of this process from a file that read() has verified.
  LAMINA_COLD void read_rows(const std::string& path, const std::vector<embedding_array>& arrays) {
    binary_reader from(path);
    lamina::detail::tensor_file_reader reader(from);
    const std::vector<tensor_entry> entries = reader.read_header();
    std::uint64_t at = from.offset();
    std::size_t next = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (next < arrays.size() && entries[i].name == arrays[next].name) {
        const sharded_table& table = tables_[static_cast<std::size_t>(arrays[next].table)];
        if (reader.sizes()[i] != table.row_bytes() * static_cast<std::size_t>(table.table().rows))
          from.fail_at(at, text("'") << entries[i].name << "': expected " << table.table().rows
                                     << " rows of " << table.row_bytes() << " bytes");
        read_array(from, at, entries[i].type, table, arrays[next++]);
      }
      at += lamina::detail::whole_stripes(reader.sizes()[i]);
    }
    if (next < arrays.size())
      from.fail(text("expected an array ") << arrays[next].name << ", found none");
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20;
  /// Returns the number of rows per piece; it makes a piece end at a stripe of the checksum.
  static int rows_of_piece(const sharded_table& table) {
    constexpr std::size_t stripe = checksum::stripe;
    return static_cast<int>((std::max)(stripe, piece / table.row_bytes() / stripe * stripe));
  }

  void read_array(binary_reader& from, std::uint64_t begin, dtype type, const sharded_table& table,
                  const embedding_array& a) {
    const int first = table.first(group_.rank()), end = table.end(group_.rank());
    const std::size_t wide = table.row_bytes();
    const std::uint64_t window = begin + static_cast<std::uint64_t>(first) * wide;
    from.window(window, static_cast<std::uint64_t>(end - first) * wide, "rows");
    for (int r = first, n = 0; r < end; r += n) {
      n = (std::min)(rows_of_piece(table), end - r);
      buffer_.resize(static_cast<std::size_t>(n) * wide);
      from.read(buffer_.data(), buffer_.size(), "rows");
      lamina::detail::convert_little_endian(buffer_.data(), buffer_.size(),
                                            static_cast<std::size_t>(size_of(type)));
      for (int k = 0; k < n; ++k)
        table.copy_in(buffer_.data() + static_cast<std::size_t>(k) * wide, r + k,
                      reinterpret_cast<std::byte*>(a.memory));
    }
  }

  /// Writes the file in rank 0. After an error it still receives the rows that the others send.
  LAMINA_COLD void write_all(const std::string& path, const std::vector<tensor_entry>& entries,
                             const std::vector<embedding_array>& arrays,
                             std::exception_ptr& failure) {
    std::optional<binary_writer> file;
    const auto guarded = [&](auto&& f) {
      if (failure) return;
      try {
        f();
      } catch (...) {
        failure = std::current_exception();
        file.reset();
      }
    };
    std::uint64_t sum = 0;
    guarded([&] {
      const std::string header = lamina::detail::tensor_file_header(entries, sum);
      file.emplace(path);
      file->write(header);
    });
    checksum all(sum);
    std::size_t next = 0;
    for (const tensor_entry& e : entries) {
      std::uint64_t size = e.bytes.size();
      const auto add = [&](const void* bytes, std::size_t count) {
        guarded([&] {
          const lamina::detail::little_endian_bytes converted(
              bytes, count, static_cast<std::size_t>(size_of(e.type)));
          file->write(converted.view());
          all.add(converted.data(), converted.size());
        });
      };
      if (size == 0 && next < arrays.size() && arrays[next].name == e.name) {
        const embedding_array& a = arrays[next++];
        const sharded_table& table = tables_[static_cast<std::size_t>(a.table)];
        size = table.row_bytes() * static_cast<std::size_t>(table.table().rows);
        bring(a, add);
      } else {
        add(e.bytes.data(), e.bytes.size());
      }
      const char zeros[checksum::stripe] = {};
      guarded([&] { file->write(zeros, lamina::detail::whole_stripes(size) - size); });
    }
    guarded([&] {
      if (next < arrays.size())
        throw error(text() << "lamina: " << path << ": expected an entry for the array "
                           << arrays[next].name << ", found none");
    });
    for (; next < arrays.size(); ++next) bring(arrays[next], [](const std::byte*, std::size_t) {});
    guarded([&] {
      file->number(all.value());
      file->finish();
    });
  }

  /// Sends an array to rank 0 in pieces, in the order of the rows; there, `f(bytes, count)`
  /// consumes each piece. All processes call it.
  template <class F>
  void bring(const embedding_array& a, F&& f) {
    const sharded_table& table = tables_[static_cast<std::size_t>(a.table)];
    const int rows = table.table().rows, me = group_.rank();
    const std::size_t wide = table.row_bytes();
    for (int begin = 0, end = 0; begin < rows; begin = end) {
      end = (std::min)(rows - begin, rows_of_piece(table)) + begin;
      std::vector<process_group::message> messages;
      if (me == 0) buffer_.resize(static_cast<std::size_t>(end - begin) * wide);
      for (int r = me == 0 ? 0 : me; r < (me == 0 ? group_.size() : me + 1); ++r) {
        const int first = (std::max)(begin, table.first(r)), last = (std::min)(end, table.end(r));
        if (first >= last) continue;
        const std::size_t count = static_cast<std::size_t>(last - first) * wide;
        if (me != 0) buffer_.resize(count);
        std::byte* const at =
            buffer_.data() + (me == 0 ? static_cast<std::size_t>(first - begin) * wide : 0);
        if (r != 0) messages.push_back({me == 0 ? r : 0, at, count});
        if (r == me)
          for (int k = first; k < last; ++k)
            table.copy_out(reinterpret_cast<const std::byte*>(a.memory), k,
                           at + static_cast<std::size_t>(k - first) * wide);
      }
      if (me == 0)
        group_.exchange({}, messages);
      else
        group_.exchange(messages, {});
      if (me == 0) f(buffer_.data(), buffer_.size());
    }
  }

  process_group& group_;
  const std::vector<sharded_table>& tables_;
  process_group& writers_;
  std::vector<std::byte> buffer_;
};

}}}  // namespace lamina::distributed
