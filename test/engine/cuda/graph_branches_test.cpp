// SPDX-License-Identifier: Apache-2.0
// Which nodes a group of a graph follows.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/graph_branches.hpp>

namespace cuda = lamina::engine::cuda;

namespace {

using nodes = std::vector<int>;
using uses = std::vector<cuda::memory_use>;
const char memory[100] = {};
cuda::memory_use read(int first, std::size_t bytes = 10) { return {memory + first, bytes, false}; }
cuda::memory_use write(int first, std::size_t bytes = 10) { return {memory + first, bytes, true}; }

/// A graph whose nodes are numbered from 1 on, behind node 0.
struct recorded {
  cuda::graph_branches<int> branches;
  int count = 0;
  recorded() { branches.begin({0}); }
  nodes add(const uses& u) {
    const nodes before = branches.before(u);
    branches.add(u, {++count});
    return before;
  }
};

}  // namespace

TEST_CASE("a group follows what its memory depends on") {
  recorded g;
  CHECK(g.add({write(0)}) == nodes{0});
  CHECK(g.add({write(10)}) == nodes{0});
  CHECK(g.add({read(0), read(10), write(20)}) == nodes{1, 2});  // what it reads was written
  CHECK(g.add({read(0), write(30)}) == nodes{1});               // two may read
  CHECK(g.add({write(0)}) == nodes{1, 3, 4});                   // what it overwrites was read
  CHECK(g.add({read(0)}) == nodes{5});
  CHECK(g.branches.leaves() == nodes{6});
}

TEST_CASE("parts of an array are apart, and what touches them is not") {
  recorded g;
  CHECK(g.add({write(0, 40)}) == nodes{0});
  CHECK(g.add({read(0), write(0)}) == nodes{1});
  CHECK(g.add({read(10), write(10)}) == nodes{1});
  CHECK(g.add({read(9, 2)}) == nodes{1, 2, 3});
  CHECK(g.add({write(39, 2)}) == nodes{1});
  CHECK(g.branches.leaves() == nodes{4, 5});
}

TEST_CASE("what has no memory follows the begin, and so does a new graph") {
  recorded g;
  CHECK(g.add({{nullptr, 10, true}, write(0, 0)}) == nodes{0});
  CHECK(g.add({{nullptr, 10, true}, write(0, 0)}) == nodes{0});
  CHECK(g.add({write(0)}) == nodes{0});
  g.branches.begin({7, 8});
  CHECK(g.add({write(0)}) == nodes{7, 8});
  CHECK(g.branches.leaves() == nodes{4});
}
