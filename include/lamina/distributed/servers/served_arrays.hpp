// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/served_arrays.hpp - the base of trainers with parameter servers, for
// both modes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/distributed/exchanged_arrays.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/array_list.hpp>
#include <lamina/distributed/servers/server_packet.hpp>
#include <lamina/distributed/servers/server_shards.hpp>
#include <lamina/distributed/servers/trainer_group.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The arrays of a trainer whose parameters are held by servers: it sends gradients and receives
/// parameters. When the training ends, each trainer tells the servers, and rank 0 sends them all
/// parameters.
class served_arrays : public shared_arrays {
 public:
  LAMINA_COLD ~served_arrays() override {
    arrays_.close_tables();
    if (!begun_) return;
    group_.is_served = false;
    try {
      leave();
    } catch (const error& e) {
      // If another process has failed, the next call throws its message; otherwise all processes
      // get this one.
      group_.fail(e.what());
    } catch (const std::exception& e) {
      char why[200];
      std::snprintf(why, sizeof why,
                    "lamina: distributed: expected memory in which rank %d tells the parameter "
                    "servers the end of its training, found none: %s",
                    group_.rank(), e.what());
      std::fprintf(stderr, "%s\n", why);  // a destructor cannot throw
      group_.fail(why);
    }
  }
  served_arrays(const served_arrays&) = delete;
  served_arrays& operator=(const served_arrays&) = delete;

  LAMINA_COLD void begin(const shared_facts& mine, float* const* accumulators,
                         int states) override {
    if (begun_)
      throw error(
          "lamina: train: expected a trainer to load its state before the first step, where "
          "parameter servers hold it, found load() later");
    if (group_.is_served)
      throw error(
          "lamina: train: expected one trainer at a time with parameter servers, found one that "
          "begins while another exists");
    all_->describe(options_);
    facts_.describe(options_);
    all_->begin(mine, accumulators, states);
    all_.reset();
    begun_ = group_.is_served = true;
    arrays_.open_tables(accumulators, states);
  }
  void serve(const server_functions&, worker_pool&) override {}

 protected:
  served_arrays(process_group& group, const trained_arrays& of, int rank, int ranks)
      : shared_arrays(rank, ranks),
        group_(group),
        arrays_(of),
        shards_(of, group.parameter_servers()),
        trainers_(trainer_group::trainers_of(group)),
        facts_(trainers_, no_arrays(of)),
        all_(std::make_unique<exchanged_arrays>(group, of)),
        unwinding_(std::uncaught_exceptions()),
        server_ranks_(static_cast<std::size_t>(group.parameter_servers())) {
    std::iota(server_ranks_.begin(), server_ranks_.end(), group.trainers());
  }

  static trained_arrays no_arrays(const trained_arrays& of) {
    return {nullptr, nullptr, nullptr, nullptr, 0, false, of.is_double};
  }
  int servers() const { return group_.parameter_servers(); }
  void post(int server, std::shared_ptr<const packet> what) {
    group_.post(server_ranks_[static_cast<std::size_t>(server)], std::move(what));
  }
  /// Waits for an answer of each server: calls f(server, answer).
  template <class F>
  void receive_answers(F&& f) {
    // A server may itself wait for another trainer before it answers, and then reports which one is
    // missing.
    constexpr int patiences = 2;
    std::vector<int> awaited = server_ranks_;
    while (!awaited.empty()) {
      const int from = group_.receive(answer_, awaited, patiences);
      std::erase(awaited, from);
      f(from - group_.trainers(), std::as_const(answer_));
    }
  }

  process_group& group_;
  array_list arrays_;
  server_shards shards_;
  trainer_group trainers_;
  exchanged_arrays facts_;  // exchanges the facts of all trainers

 private:
  LAMINA_COLD void leave() {
    packet_head head{.kind = packet_kind::leave};
    // After an error the parameters may be incomplete.
    if (group_.rank() == 0 && std::uncaught_exceptions() == unwinding_) head.has = 1;
    if (head.has != 0)
      for (const std::size_t n : arrays_.floats) head.floats += n;
    const auto last = new_packet(head);
    float* to = floats_of(*last);
    for (std::size_t i = 0; head.has != 0 && i < arrays_.count(); to += arrays_.floats[i], ++i)
      std::memcpy(to, arrays_.values[i], arrays_.floats[i] * sizeof(float));
    for (int s = 0; s < servers(); ++s) post(s, last);
  }

  std::unique_ptr<exchanged_arrays> all_;  // all processes, until training begins
  bool begun_ = false;
  int unwinding_;
  std::vector<int> server_ranks_;
  packet answer_;
};

}}}  // namespace lamina::distributed
