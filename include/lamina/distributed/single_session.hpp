// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/single_session.hpp - a session of one process, for programs without MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/embedding/peer_embedding.hpp>
#include <lamina/distributed/launched_processes.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/roles.hpp>
#include <lamina/distributed/session_options.hpp>
#include <lamina/distributed/sync/allreduce.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A session of one process. It replaces `mpi_session` in a program that is compiled without
/// LAMINA_HAS_MPI, which CMake's lamina_mpi(TARGET) defines.
class single_session final : public process_group {
 public:
  /// Throws lamina::error if a launcher of MPI has started this process as one of several: without
  /// MPI each of them would train a separate model.
  LAMINA_COLD single_session(int&, char**&, const session_options& options = {})
      : process_group(0, 1, options) {
    if (const int n = launched_processes(); n > 1)
      throw error(text() << "lamina: distributed: expected a program compiled with MPI "
                            "(lamina_mpi(target) of CMake, or mpicxx -DLAMINA_HAS_MPI) under a "
                            "launcher of "
                         << n << " processes, found one without");
    roles_ = roles_of(options, 1);
  }

  std::unique_ptr<parameter_sync> make_sync(const trained_arrays& of) override {
    return std::make_unique<allreduce>(*this, of);
  }
  std::shared_ptr<sharded_embedding> make_embedding(std::vector<embedding_table> tables,
                                                    std::uint64_t seed) override {
    return std::make_shared<peer_embedding>(*this, std::move(tables), seed);
  }
  void gather(const void* mine, std::size_t bytes, void* all) override {
    if (bytes > 0) std::memmove(all, mine, bytes);
  }
  void exchange(std::span<const message>, std::span<const message>) override {}
  void post(int, std::shared_ptr<const packet>) override {}
  int receive(packet&, std::span<const int>, int) override { return 0; }
  int share_number() override {
    numbers_.push_back(0);
    return static_cast<int>(numbers_.size()) - 1;
  }
  std::int64_t add_to_number(int index, std::int64_t more) override {
    return std::exchange(numbers_[static_cast<std::size_t>(index)],
                         numbers_[static_cast<std::size_t>(index)] + more);
  }
  int start(int, std::span<const message>, std::span<const message>) override { return 0; }
  bool poll(int) override { return true; }
  void wait_awhile() override {}
  void drop() noexcept override {}
  void fail(std::string_view) noexcept override {}

 private:
  std::vector<std::int64_t> numbers_;
};

}}}  // namespace lamina::distributed
