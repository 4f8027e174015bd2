// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/trainer_group.hpp - the trainers of a group, as a group without the
// servers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/process_group.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The trainers of a group with parameter servers, without the servers; or one process alone.
/// Messages are sent through the whole group.
class trainer_group final : public process_group {
 public:
  /// Returns the trainers of a group; this rank must be one of them.
  static trainer_group trainers_of(process_group& all) {
    return trainer_group(all, all.rank(), all.trainers());
  }
  /// Returns a group that consists of this process only.
  static trainer_group alone(process_group& all) { return trainer_group(all, 0, 1); }

  std::unique_ptr<parameter_sync> make_sync(const trained_arrays&) override {
    throw error("lamina: distributed: expected the whole group to share arrays, found a part");
  }
  LAMINA_COLD void gather(const void* mine, std::size_t bytes, void* all) override {
    std::byte* const to = static_cast<std::byte*>(all);
    const std::size_t me = static_cast<std::size_t>(rank_);
    if (bytes > 0) std::memmove(to + me * bytes, mine, bytes);
    std::vector<message> sends, receives;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      sends.push_back({r, to + me * bytes, bytes});
      receives.push_back({r, to + static_cast<std::size_t>(r) * bytes, bytes});
    }
    if (size_ > 1) all_.exchange(sends, receives);
  }
  void exchange(std::span<const message> sends, std::span<const message> receives) override {
    if (size_ > 1) all_.exchange(sends, receives);
  }
  void post(int to, std::shared_ptr<const packet> what) override { all_.post(to, std::move(what)); }
  int receive(packet& to, std::span<const int> awaited, int patiences) override {
    return all_.receive(to, awaited, patiences);
  }
  int share_number() override { return all_.share_number(); }
  std::int64_t add_to_number(int index, std::int64_t more) override {
    return all_.add_to_number(index, more);
  }
  int start(int channel, std::span<const message> sends,
            std::span<const message> receives) override {
    return all_.start(channel, sends, receives);
  }
  bool poll(int number) override { return all_.poll(number); }
  void wait_awhile() override { all_.wait_awhile(); }
  void drop() noexcept override {}
  void fail(std::string_view why) noexcept override { all_.fail(why); }

 private:
  trainer_group(process_group& all, int rank, int size) : process_group(rank, size), all_(all) {}
  process_group& all_;
};

}}}  // namespace lamina::distributed
