// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_graphs.hpp - work of a CUDA device that is recorded as graphs: with
// branches, with blocks that a condition decides on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/device_memory.hpp>
#include <lamina/engine/cuda/graph_branches.hpp>

/// Whether graphs have conditional nodes: the toolkit from 12.4 on. Drivers tell when they start.
#if !defined(LAMINA_CUDA_CONDITIONS)
#define LAMINA_CUDA_CONDITIONS (CUDART_VERSION >= 12040)
#endif
/// Whether what is recorded has branches: groups that have nothing to do with each other.
#if !defined(LAMINA_CUDA_BRANCHES)
#define LAMINA_CUDA_BRANCHES 1
#endif

namespace lamina::engine::cuda {

/// Records what a device is asked for, and repeats it.
class device_graphs : public device_memory {
 public:
  /// Memory for a copy that is being recorded, which stays as long as the graph; null where nothing
  /// is recorded.
  void* staging_of_graph(std::size_t bytes) {
    if (!recording_) return nullptr;
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(allocate_staging(bytes));
    return kept_.back();
  }
  /// Does the work. The second time with an equal key it is recorded as a graph, and from then on
  /// the graph is launched: the work must depend on the key alone, and on memory.
  template <class Work>
  void replay(std::string_view key, Work&& work) {
    use();
    if (careful_) return work();
    // Whatever is known of a key is forgotten where the work finds too little memory.
    if (!find(key).seen) {
      work();
      find(key).seen = true;
      return;
    }
    if (find(key).graph == nullptr) {
      try {
        begin_recording();
        work();
      } catch (...) {
        stop_recording();
        throw;
      }
      const cudaGraphExec_t made = end_recording();
      recorded& r = find(key);
      r.seen = true;
      r.graph = made;
      r.kept = std::exchange(kept_, {});
    }
    check_call(cudaGraphLaunch(find(key).graph, stream_), "cudaGraphLaunch");
  }
  /// Does work that is never repeated as it is.
  template <class Work>
  void once(Work&& work) {
    use();
    work();
  }
  /// Whether graphs may have conditions: blocks that run, or run again, without the host. Older
  /// drivers have none; then the host reads each condition and launches the block itself.
  bool knows_conditions() const { return conditions_ && !careful_; }
  bool records_conditions() const { return root_ != nullptr && knows_conditions(); }
  /// Whether groups are recorded that may be nodes beside each other. The next one follows those
  /// that use its memory; what is recorded behind join_branches() follows all of them.
  bool records_branches() const { return LAMINA_CUDA_BRANCHES != 0 && recording_; }
  void begin_branch(const std::vector<memory_use>& uses) {
    if (!branching_) {
      branches_.begin(last_nodes());
      branching_ = true;
    }
    follow(branches_.before(uses));
  }
  void end_branch(const std::vector<memory_use>& uses) { branches_.add(uses, last_nodes()); }
  void join_branches() {
    if (!branching_) return;
    branching_ = false;
    follow(branches_.leaves());
  }
  /// What was recorded does not hold any more.
  void forget() noexcept {
    for (recorded& r : recorded_) {
      if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
      release_kept(r.kept);
    }
    recorded_.clear();
  }

 protected:
  using device_memory::device_memory;
  ~device_graphs() {
    forget();
    for (const cudaStream_t s : inner_) cudaStreamDestroy(s);
  }
#if LAMINA_CUDA_CONDITIONS
  /// Adds the node of a block; until it is left, what is launched is recorded into its graph. Each
  /// level has a stream of its own, for the one around goes on recording. Returns that one.
  LAMINA_COLD cudaStream_t enter_conditional(cudaGraphConditionalHandle handle, bool repeats) {
    const recording before = recorded_so_far();
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = repeats ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    p.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    check_call(cudaGraphAddNode(&node, before.graph, before.last, nullptr, before.last_count, &p),
               "cudaGraphAddNode");
#else
    check_call(cudaGraphAddNode(&node, before.graph, before.last, before.last_count, &p),
               "cudaGraphAddNode");
#endif
    follow({node});
    if (depth_ == inner_.size()) {
      cudaStream_t made = nullptr;
      check_call(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags");
      inner_.push_back(made);
    }
    const cudaStream_t inner = inner_[depth_];
    check_call(cudaStreamBeginCaptureToGraph(inner, p.conditional.phGraph_out[0], nullptr, nullptr,
                                             0, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCaptureToGraph");
    ++depth_;
    return std::exchange(stream_, inner);
  }
  LAMINA_COLD cudaError_t leave_conditional(cudaStream_t outer) noexcept {
    --depth_;
    cudaGraph_t body = nullptr;  // a part of the whole graph
    return cudaStreamEndCapture(std::exchange(stream_, outer), &body);
  }
#endif

  bool careful_ = false;        // each launch is waited for: nothing is recorded
  bool conditions_ = false;     // what the driver knows
  cudaGraph_t root_ = nullptr;  // that is being recorded

 private:
  struct recorded {
    std::string key;
    cudaGraphExec_t graph = nullptr;
    bool seen = false;
    std::vector<void*> kept;  // that the graph copies from
  };
  static constexpr std::size_t most_recorded = 128;

  LAMINA_COLD recorded& find(std::string_view key) {
    for (recorded& r : recorded_)
      if (r.key == key) return r;
    // Of keys that never came back nothing is lost.
    if (recorded_.size() >= most_recorded)
      std::erase_if(recorded_, [](const recorded& r) { return r.graph == nullptr; });
    if (recorded_.size() >= most_recorded) forget();
    recorded& r = recorded_.emplace_back();
    r.key = key;
    return r;
  }
  void release_kept(std::vector<void*>& kept) noexcept {
    // A graph that has been launched may still copy from it.
    if (!kept.empty() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
    for (void* const p : kept) release_staging(p);
    kept.clear();
  }
  LAMINA_COLD void begin_recording() {
    check_call(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    recording_ = true;
    branching_ = false;
    root_ = recorded_so_far().graph;
  }
  /// The graph that the stream records, and the nodes that the next one follows.
  struct recording {
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* last = nullptr;
    std::size_t last_count = 0;
  };
  LAMINA_COLD recording recorded_so_far() const {
    recording r;
    cudaStreamCaptureStatus status{};
    unsigned long long id = 0;
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData* edges = nullptr;
    check_call(
        cudaStreamGetCaptureInfo(stream_, &status, &id, &r.graph, &r.last, &edges, &r.last_count),
        "cudaStreamGetCaptureInfo");
#else
    check_call(cudaStreamGetCaptureInfo_v2(stream_, &status, &id, &r.graph, &r.last, &r.last_count),
               "cudaStreamGetCaptureInfo");
#endif
    return r;
  }
  std::vector<cudaGraphNode_t> last_nodes() const {
    const recording r = recorded_so_far();
    return {r.last, r.last + r.last_count};
  }
  /// The next node follows these.
  LAMINA_COLD void follow(std::vector<cudaGraphNode_t> nodes) {
#if CUDART_VERSION >= 13000
    check_call(cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), nullptr, nodes.size(),
                                                   cudaStreamSetCaptureDependencies),
               "cudaStreamUpdateCaptureDependencies");
#else
    check_call(cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), nodes.size(),
                                                   cudaStreamSetCaptureDependencies),
               "cudaStreamUpdateCaptureDependencies");
#endif
  }
  LAMINA_COLD void stop_recording() noexcept {
    root_ = nullptr;
    recording_ = branching_ = false;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    release_kept(kept_);
  }
  LAMINA_COLD cudaGraphExec_t end_recording() {
    root_ = nullptr;
    recording_ = false;
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

  bool recording_ = false, branching_ = false;
  std::vector<cudaStream_t> inner_;  // by depth of blocks: that record them
  std::size_t depth_ = 0;
  std::vector<recorded> recorded_;
  std::vector<void*> kept_;  // of the graph that is being recorded
  graph_branches<cudaGraphNode_t> branches_;
};

}  // namespace lamina::engine::cuda
