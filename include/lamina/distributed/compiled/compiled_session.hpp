// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/compiled/compiled_session.hpp - an mpi_session whose code is compiled apart.
//
// The exchanges of a session are the same for all programs, and take longer to compile than a small
// program. Where LAMINA_MPI_COMPILED is defined, as CMake's lamina_mpi(TARGET) does, a program sees
// these declarations only, and cmake/lamina_mpi.cpp has the code.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/session_options.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// A session with the functions and errors of mpi_session.
class compiled_session final : public process_group {
 public:
  /// Makes an mpi_session.
  compiled_session(int& argc, char**& argv, const session_options& options = {});
  compiled_session(const compiled_session&) = delete;
  compiled_session& operator=(const compiled_session&) = delete;
  ~compiled_session();

  std::string host(int rank) const override;
  std::unique_ptr<shared_arrays> share(const trained_arrays& of) override;
  std::shared_ptr<divided_tables> divide(std::vector<divided_table> tables,
                                         std::uint64_t seed) override;
  void gather(const void* mine, std::size_t bytes, void* all) override;
  std::int64_t add_up(std::int64_t mine) override;
  void reduce(const engine::reduction_call& call, void* array, const bool* takes_part) override;
  void exchange(std::span<const message> sends, std::span<const message> receives) override;
  void post(int to, std::shared_ptr<const letter> what) override;
  int receive(letter& to, std::span<const int> awaited, int patiences = 1) override;
  int share_number() override;
  std::int64_t add_to_number(int index, std::int64_t more) override;
  int start(int channel, std::span<const message> sends,
            std::span<const message> receives) override;
  bool poll(int number) override;
  void wait_awhile() override;
  void drop() noexcept override;
  void fail(std::string_view why) noexcept override;

 private:
  std::unique_ptr<process_group> session_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
