// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/host_backend.hpp - runs the device's kernels on the host, body for body: what
// tests them where there is no device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cuda/host_bodies.hpp"

#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina::engine::cuda {

/// The memory and the loops of the host in place of a device's.
template <int Threads>
class host_backend {
  using bodies = host_bodies<Threads>;

 public:
  using product_tile = typename bodies::product_tile;
  using sum_tile = typename bodies::sum_tile;
  static constexpr int row_threads = bodies::row_threads;
  /// Some floats, so that what lies in the workspace or behind it is seen to be where it should.
  static constexpr std::ptrdiff_t product_workspace = 64;

  explicit host_backend(int number = 0) : number_(number) {}
  /// Device memory is no more than this from now on.
  void limit_memory(std::size_t bytes) { limit_ = bytes; }
  /// Teams have no more shared memory than this from now on.
  void limit_shared_memory(std::size_t bytes) { shared_limit_ = bytes; }
  void set_planned(std::size_t bytes) noexcept { planned_ = bytes; }

  void* allocate(std::size_t bytes) {
    if (bytes > limit_ - in_use_) fail_memory(bytes, planned_, in_use_, limit_ - in_use_, limit_);
    in_use_ += bytes;
    return allocate_staging(bytes);
  }
  void release(void* p, std::size_t bytes) noexcept {
    do_deferred();
    in_use_ -= bytes;
    release_staging(p);
  }
  void* allocate_staging(std::size_t bytes) {
    void* const p = ::operator new (bytes, std::align_val_t{256});
    std::memset(p, 0, bytes);
    return p;
  }
  void release_staging(void* p) noexcept { ::operator delete (p, std::align_val_t{256}); }
  /// Memory for a copy that is being recorded, which stays as long as the list; null where nothing
  /// is recorded.
  void* staging_of_graph(std::size_t bytes) {
    if (list_ == nullptr) return nullptr;
    list_->push_back(step{[](const void*) {}, std::make_unique<char[]>(bytes), nullptr});
    return list_->back().state.get();
  }
  void upload(void* to, const void* from, std::size_t bytes) {
    perform([=] {
      if (bytes != 0) std::memcpy(to, from, bytes);
    });
  }
  void download(void* to, const void* from, std::size_t bytes) { upload(to, from, bytes); }
  void wait() { do_deferred(); }
  int number() const { return number_; }
  void use() {}
  void forget() { recorded_.clear(); }
  void begin_group(const call_context&) {}
  void end_group() {}
  /// From now on work is recorded, as on a device: a list of what was done stands for a graph.
  void record() { records_ = true; }
  /// From now on work is done when it is waited for, as late as on a device.
  void defer() { defers_ = true; }
  /// Records work the second time that a key comes, and repeats it from then on.
  template <class Work>
  void replay(std::string_view key, const Work& work) {
    if (!records_) return work();
    replay_recorded(
        key, [](const void* w) { (*static_cast<const Work*>(w))(); }, &work);
  }
  /// Does work that is never repeated as it is.
  template <class Work>
  void once(Work&& work) {
    work();
  }

  void multiply(const product& p, float* workspace) {
    perform([=] {
      std::fill_n(workspace, product_workspace, std::numeric_limits<float>::quiet_NaN());
      multiply_on_host(p);
    });
  }
  template <class Body>
  bool fits() const {
    return sizeof(typename Body::shared) <= shared_limit_;
  }
  template <class Body>
  void cells(const typename Body::arguments& g) {
    perform([=] { bodies::template cells<Body>(g); });
  }
  template <class Body>
  void teams(const typename Body::arguments& g) {
    perform([=] { bodies::template teams<Body>(g); });
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    perform([=] { bodies::template lines<Body>(a); });
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    perform([=] { bodies::template elements<Body>(a); });
  }
  template <class Algorithm>
  void run_algorithm(const Algorithm& a, void* /*scratch*/ = nullptr) {
    perform([=] { bodies::run(a); });
  }
  template <class Algorithm>
  static void algorithm_scratch(const Algorithm&, std::size_t* bytes) {
    *bytes = 0;
  }

 private:
  struct step;
  using step_list = std::vector<step>;
  /// Work that waits, or that is repeated. A kind of work has one function: its state is bytes, as
  /// the arguments of a kernel are.
  struct step {
    void (*run)(const void* state);
    std::unique_ptr<char[]> state;
    std::shared_ptr<const step_list> list;  // what is repeated, in place of `run`
  };
  static void run_list(const step_list& steps) {
    for (const step& s : steps)
      if (s.list != nullptr)
        run_list(*s.list);
      else
        s.run(s.state.get());
  }
  void replay_recorded(std::string_view key, void (*call)(const void*), const void* work) {
    const std::string name(key);
    const auto known = recorded_.find(name);
    if (known == recorded_.end()) {
      call(work);
      recorded_[name];
      return;
    }
    if (known->second == nullptr) {
      const auto list = list_ = std::make_shared<step_list>();
      try {
        call(work);
      } catch (...) {
        list_ = nullptr;
        throw;
      }
      list_ = nullptr;
      known->second = list;
    }
    if (waits())
      keep(step{nullptr, nullptr, known->second});
    else
      run_list(*known->second);
  }
  bool waits() const { return list_ != nullptr || defers_; }
  /// Notes work in what is being recorded, or else in what is done later.
  void keep(step s) {
    if (list_ != nullptr)
      list_->push_back(std::move(s));
    else
      deferred_.push_back(std::move(s));
  }
  void keep(void (*run)(const void*), const void* state, std::size_t bytes) {
    step s{run, std::make_unique<char[]>(bytes), nullptr};
    std::memcpy(s.state.get(), state, bytes);
    keep(std::move(s));
  }
  /// Does some work, or notes it.
  template <class Work>
  void perform(const Work& work) {
    static_assert(std::is_trivially_copyable_v<Work>);
    static_assert(alignof(Work) <= alignof(std::max_align_t));
    if (!waits()) return work();
    keep([](const void* w) { (*static_cast<const Work*>(w))(); }, &work, sizeof work);
  }
  void do_deferred() { run_list(std::exchange(deferred_, {})); }

  int number_;
  std::size_t limit_ = std::size_t{1} << 62, in_use_ = 0, planned_ = 0;
  std::size_t shared_limit_ = limit_;
  bool records_ = false, defers_ = false;
  step_list deferred_;
  std::shared_ptr<step_list> list_;  // that is being recorded
  std::map<std::string, std::shared_ptr<step_list>> recorded_;
};

}  // namespace lamina::engine::cuda
