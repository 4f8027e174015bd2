// SPDX-License-Identifier: Apache-2.0
// tensor_array: slots, their memory and their sequences.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/tensor_array.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

using lamina::engine::cpu::tensor_array;

TEST_CASE("slots are written in any order, and unwritten ones have no value") {
  tensor_array a;
  CHECK(a.size() == 0);
  a.write(2, 3, 30)[29] = 5;
  CHECK(a.size() == 3);
  CHECK(a.holds(2));
  CHECK(!a.holds(0));
  CHECK(!a.holds(3));
  CHECK(!a.holds(-1));
  CHECK(a.rows(2) == 3);
  CHECK(a.data(2)[29] == 5);
  a.erase(2);
  CHECK(!a.holds(2));
  a.clear();
  CHECK(a.size() == 0);
}

TEST_CASE("a slot that is written again stays in place, alternates or is fresh, as asked") {
  for (const auto how : {lamina::slot_memory::in_place, lamina::slot_memory::alternate,
                         lamina::slot_memory::fresh}) {
    tensor_array a;
    a.use_memory(how);
    float* const first = a.write(0, 1, 16);
    float* const second = a.write(0, 1, 16);
    float* const third = a.write(0, 1, 16);
    CHECK((first == second) == (how == lamina::slot_memory::in_place));
    CHECK((first == third) == (how != lamina::slot_memory::fresh));
  }
}

TEST_CASE("a slot has sequences, or refers to memory elsewhere") {
  tensor_array a;
  a.write(0, 3, 3);
  int* const offsets = a.write_offsets(0, 2);
  offsets[0] = 0, offsets[1] = 1, offsets[2] = 3;
  CHECK(a.sequences(0) == 2);
  CHECK(a.offsets(0)[2] == 3);
  float elsewhere[2] = {7, 8};
  a.refer(1, 2, elsewhere);
  CHECK(a.data(1) == elsewhere);
  CHECK(a.sequences(1) == 0);
  tensor_array b;
  b.swap(a);
  CHECK(a.size() == 0);
  CHECK(b.data(1)[1] == 8);
  CHECK(b.offsets(0)[1] == 1);
}
