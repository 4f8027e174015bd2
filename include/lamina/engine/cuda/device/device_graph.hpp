// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_graph.hpp - captures the launches and copies of a run as a CUDA
// graph and replays it.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/device/device_memory.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Captures the work of a stream as a graph and replays it, which takes one launch per run in place
/// of one launch per kernel. With LAMINA_CUDA_GRAPHS=0 in the environment, kernels are launched
/// directly.
class device_graph : public device_memory {
 public:
  /// Returns host memory for a copy that is being captured; the memory lives as long as the graph.
  /// Returns null if no capture is in progress.
  void* staging_of_graph(std::size_t bytes) {
    if (!capturing_) return nullptr;
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(allocate_staging(bytes));
    return kept_.back();
  }
  /// Runs `work`. The first call with a key runs it directly, the second call captures it as a
  /// graph, and later calls launch the graph. So the launches of `work` must depend only on the
  /// key.
  template <class Work>
  void replay(std::string_view key, Work&& work) {
    use();
    if (!captures_) return work();
    // `work` calls forget() if it moves memory, which invalidates entries. So find() is called
    // again after it.
    if (!find(key).seen) {
      work();
      find(key).seen = true;
      return;
    }
    if (find(key).graph == nullptr) {
      try {
        check_call(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
                   "cudaStreamBeginCapture");
        capturing_ = true;
        work();
      } catch (...) {
        stop_capture();
        throw;
      }
      const cudaGraphExec_t made = end_capture();
      captured& c = find(key);
      c.seen = true;
      c.graph = made;
      c.kept = std::exchange(kept_, {});
    }
    check_call(cudaGraphLaunch(find(key).graph, stream_), "cudaGraphLaunch");
  }
  /// Runs work that is never captured.
  template <class Work>
  void once(Work&& work) {
    use();
    work();
  }
  /// Drops all graphs. Call it when memory that they use has moved.
  void forget() noexcept {
    for (captured& c : captured_) {
      if (c.graph != nullptr) cudaGraphExecDestroy(c.graph);
      release_kept(c.kept);
    }
    captured_.clear();
  }

 protected:
  using device_memory::device_memory;
  ~device_graph() { forget(); }

  bool captures_ = false;

 private:
  struct captured {
    std::string key;
    cudaGraphExec_t graph = nullptr;
    bool seen = false;
    std::vector<void*> kept;  // host memory that the graph copies from
  };
  static constexpr std::size_t most_captured = 128;

  LAMINA_COLD captured& find(std::string_view key) {
    for (captured& c : captured_)
      if (c.key == key) return c;
    // If there are too many entries, removes the entries without a graph first.
    if (captured_.size() >= most_captured)
      std::erase_if(captured_, [](const captured& c) { return c.graph == nullptr; });
    if (captured_.size() >= most_captured) forget();
    captured& c = captured_.emplace_back();
    c.key = key;
    return c;
  }
  void release_kept(std::vector<void*>& kept) noexcept {
    // A launched graph may still copy from this memory.
    if (!kept.empty() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
    for (void* const p : kept) release_staging(p);
    kept.clear();
  }
  LAMINA_COLD void stop_capture() noexcept {
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    release_kept(kept_);
  }
  LAMINA_COLD cudaGraphExec_t end_capture() {
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    cudaGraphExec_t made = nullptr;
    cudaError_t found = ended;
    if (ended == cudaSuccess) {
      found = cudaGraphInstantiate(&made, graph, 0);
      cudaGraphDestroy(graph);
    }
    if (found != cudaSuccess) release_kept(kept_);
    check_call(found, ended == cudaSuccess ? "cudaGraphInstantiate" : "cudaStreamEndCapture");
    return made;
  }

  bool capturing_ = false;
  std::vector<captured> captured_;
  std::vector<void*> kept_;  // host memory of the graph being captured
};

}}}  // namespace lamina::engine::cuda
