// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/compiled_session.hpp - an mpi_session that is compiled once, in a library.
//
// The code of a session is the same for all programs and takes longer to compile than a small
// program. If LAMINA_COMPILED is defined, as CMake's lamina_mpi(TARGET) does, a program sees these
// declarations only and does not include mpi.h.
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
#if LAMINA_DEFINES
#include <utility>

#include <lamina/distributed/mpi/mpi_session.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A session with the functions and errors of mpi_session.
class compiled_session final : public process_group {
 public:
  /// Makes an mpi_session.
  LAMINA_API compiled_session(int& argc, char**& argv, const session_options& options = {});
  compiled_session(const compiled_session&) = delete;
  compiled_session& operator=(const compiled_session&) = delete;
  LAMINA_API ~compiled_session();

  LAMINA_API std::string host(int rank) const override;
  LAMINA_API std::unique_ptr<parameter_sync> make_sync(const trained_arrays& of) override;
  LAMINA_API std::shared_ptr<sharded_embedding> make_embedding(std::vector<embedding_table> tables,
                                                               std::uint64_t seed) override;
  LAMINA_API void gather(const void* mine, std::size_t bytes, void* all) override;
  LAMINA_API std::int64_t all_reduce_sum(std::int64_t mine) override;
  LAMINA_API void reduce(const engine::reduction_call& call, void* array,
                         const bool* takes_part) override;
  LAMINA_API void exchange(std::span<const message> sends,
                           std::span<const message> receives) override;
  LAMINA_API void post(int to, std::shared_ptr<const packet> what) override;
  LAMINA_API int receive(packet& to, std::span<const int> awaited, int patiences = 1) override;
  LAMINA_API int share_number() override;
  LAMINA_API std::int64_t add_to_number(int index, std::int64_t more) override;
  LAMINA_API int start(int channel, std::span<const message> sends,
                       std::span<const message> receives) override;
  LAMINA_API bool poll(int number) override;
  LAMINA_API void wait_awhile() override;
  LAMINA_API void drop() noexcept override;
  LAMINA_API void fail(std::string_view why) noexcept override;

 private:
  std::unique_ptr<process_group> session_;
};

#if LAMINA_DEFINES

compiled_session::compiled_session(int& argc, char**& argv, const session_options& options)
    : process_group(0, 1, options), session_(std::make_unique<mpi_session>(argc, argv, options)) {
  rank_ = session_->rank();
  size_ = session_->size();
  roles_ = session_->roles();
}
compiled_session::~compiled_session() = default;

std::string compiled_session::host(int rank) const { return session_->host(rank); }
std::unique_ptr<parameter_sync> compiled_session::make_sync(const trained_arrays& of) {
  return session_->make_sync(of);
}
std::shared_ptr<sharded_embedding> compiled_session::make_embedding(
    std::vector<embedding_table> tables, std::uint64_t seed) {
  return session_->make_embedding(std::move(tables), seed);
}
void compiled_session::gather(const void* mine, std::size_t bytes, void* all) {
  session_->gather(mine, bytes, all);
}
std::int64_t compiled_session::all_reduce_sum(std::int64_t mine) {
  return session_->all_reduce_sum(mine);
}
void compiled_session::reduce(const engine::reduction_call& call, void* array,
                              const bool* takes_part) {
  session_->reduce(call, array, takes_part);
}
void compiled_session::exchange(std::span<const message> sends, std::span<const message> receives) {
  session_->exchange(sends, receives);
}
void compiled_session::post(int to, std::shared_ptr<const packet> what) {
  session_->post(to, std::move(what));
}
int compiled_session::receive(packet& to, std::span<const int> awaited, int patiences) {
  return session_->receive(to, awaited, patiences);
}
int compiled_session::share_number() { return session_->share_number(); }
std::int64_t compiled_session::add_to_number(int index, std::int64_t more) {
  return session_->add_to_number(index, more);
}
int compiled_session::start(int channel, std::span<const message> sends,
                            std::span<const message> receives) {
  return session_->start(channel, sends, receives);
}
bool compiled_session::poll(int number) { return session_->poll(number); }
void compiled_session::wait_awhile() { session_->wait_awhile(); }
void compiled_session::drop() noexcept { session_->drop(); }
void compiled_session::fail(std::string_view why) noexcept { session_->fail(why); }

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::distributed
