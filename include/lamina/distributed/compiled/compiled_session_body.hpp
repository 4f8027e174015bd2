// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/compiled/compiled_session_body.hpp - the functions that compiled_session.hpp
// declares. One file of a program includes it: cmake/lamina_mpi.cpp.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/distributed/compiled/compiled_session.hpp>
#include <lamina/distributed/mpi_session.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

compiled_session::compiled_session(int& argc, char**& argv, const session_options& options)
    : process_group(0, 1, options), session_(std::make_unique<mpi_session>(argc, argv, options)) {
  rank_ = session_->rank();
  size_ = session_->size();
  roles_ = session_->roles();
}
compiled_session::~compiled_session() = default;

std::string compiled_session::host(int rank) const { return session_->host(rank); }
std::unique_ptr<shared_arrays> compiled_session::share(const trained_arrays& of) {
  return session_->share(of);
}
std::shared_ptr<divided_tables> compiled_session::divide(std::vector<divided_table> tables,
                                                         std::uint64_t seed) {
  return session_->divide(std::move(tables), seed);
}
void compiled_session::gather(const void* mine, std::size_t bytes, void* all) {
  session_->gather(mine, bytes, all);
}
std::int64_t compiled_session::add_up(std::int64_t mine) { return session_->add_up(mine); }
void compiled_session::reduce(const engine::reduction_call& call, void* array,
                              const bool* takes_part) {
  session_->reduce(call, array, takes_part);
}
void compiled_session::exchange(std::span<const message> sends, std::span<const message> receives) {
  session_->exchange(sends, receives);
}
void compiled_session::post(int to, std::shared_ptr<const letter> what) {
  session_->post(to, std::move(what));
}
int compiled_session::receive(letter& to, std::span<const int> awaited, int patiences) {
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

}  // namespace lamina::inline LAMINA_ABI::distributed
