// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/graph_branches.hpp - which nodes of a graph a group has to follow: those that
// have written what it reads, or have to do with what it writes. Others may run beside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lamina::engine::cuda {

/// Bytes that a group reads, or reads and writes.
struct memory_use {
  const void* begin;
  std::size_t bytes;
  bool written;
};

/// The groups of a graph that is being recorded, in the order in which they are to seem to run.
template <class Node>
class graph_branches {
 public:
  /// What is recorded so far, which all groups follow.
  void begin(const std::vector<Node>& before) {
    before_ = leaves_ = before;
    uses_.clear();
  }
  /// The nodes that a group follows which uses this memory.
  const std::vector<Node>& before(const std::vector<memory_use>& uses) {
    follows_.clear();
    for (const used& u : uses_)
      for (const memory_use& now : uses)
        if ((now.written || u.written) && overlap(range_of(now), u.at)) {
          for (const Node& n : u.nodes) add_to(follows_, n);
          break;
        }
    if (follows_.empty()) follows_ = before_;
    return follows_;
  }
  /// Such a group was recorded; these are its last nodes.
  void add(const std::vector<memory_use>& uses, const std::vector<Node>& nodes) {
    for (const memory_use& now : uses) {
      if (now.begin == nullptr || now.bytes == 0) continue;
      const range at = range_of(now);
      // Whoever follows what is overwritten follows the one that does so.
      if (now.written) std::erase_if(uses_, [&](const used& u) { return covers(at, u.at); });
    }
    for (const memory_use& now : uses)
      if (now.begin != nullptr && now.bytes != 0)
        uses_.push_back({range_of(now), now.written, nodes});
    std::erase_if(leaves_, [&](const Node& n) {
      return std::find(follows_.begin(), follows_.end(), n) != follows_.end();
    });
    for (const Node& n : nodes) add_to(leaves_, n);
  }
  /// The nodes that none follows yet.
  const std::vector<Node>& leaves() const { return leaves_; }

 private:
  struct range {
    std::uintptr_t begin, end;
  };
  struct used {
    range at;
    bool written;
    std::vector<Node> nodes;
  };
  static range range_of(const memory_use& u) {
    const auto begin = reinterpret_cast<std::uintptr_t>(u.begin);
    return {begin, begin + u.bytes};
  }
  static bool overlap(const range& a, const range& b) { return a.begin < b.end && b.begin < a.end; }
  static bool covers(const range& a, const range& b) {
    return a.begin <= b.begin && b.end <= a.end;
  }
  static void add_to(std::vector<Node>& to, const Node& n) {
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
  }

  std::vector<Node> before_, leaves_, follows_;
  std::vector<used> uses_;
};

}  // namespace lamina::engine::cuda
