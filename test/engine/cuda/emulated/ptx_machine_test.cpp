// SPDX-License-Identifier: Apache-2.0
// The processor that stands for a device: kernels written by hand, with and without the mistakes
// that it is to find.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "engine/cuda/emulated/ptx_processor.hpp"
#include <catch2/catch.hpp>

namespace emulated = test::emulated;

namespace {

std::vector<float> memory;
std::string faults;

struct array_around : emulated::surroundings {
  bool find_allocation(std::uint64_t address, char*& begin, char*& end) override {
    begin = reinterpret_cast<char*>(memory.data());
    end = begin + memory.size() * sizeof(float);
    return address >= reinterpret_cast<std::uintptr_t>(begin) &&
           address < reinterpret_cast<std::uintptr_t>(end);
  }
  void tell_fault(const std::string& what) override { faults += what + "\n"; }
};

/// Launches a kernel of an array and a number over `memory`.
void run(const std::string& body, unsigned blocks, unsigned threads) {
  emulated::module m;
  emulated::read_module(m, R"(.version 9.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry k(
  .param .u64 array,
  .param .u32 number
)
.maxntid 256, 1, 1
{
  .reg .pred %p<9>;
  .reg .f32 %f<33>;
  .reg .b32 %r<33>;
  .reg .b64 %rd<9>;
  .reg .f64 %fd<5>;
  .shared .align 16 .b8 shared[1024];
  ld.param.u64 %rd1, [array];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [number];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
)" + body + "\n  ret;\n}\n");
  faults.clear();
  emulated::machine processor;
  array_around around;
  processor.code = &m;
  processor.around = &around;
  std::vector<char> arguments(12);
  const float* const p = memory.data();
  std::memcpy(arguments.data(), &p, 8);
  processor.run(m.kernels.at("k"), {blocks, 1, 1}, {threads, 1, 1}, arguments, 0);
}
std::string failure_of(const std::string& body, unsigned blocks = 1, unsigned threads = 32) {
  try {
    run(body, blocks, threads);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Each thread stores its number, and loads that of the last one.
std::string exchange_in_shared(const std::string& between) {
  return R"(
  cvt.rn.f32.u32 %f1, %r2;
  mov.u32 %r3, shared;
  shl.b32 %r4, %r2, 2;
  add.s32 %r5, %r3, %r4;
  st.shared.f32 [%r5], %f1;
)" + between +
         R"(
  ld.shared.f32 %f2, [shared+252];
  st.global.f32 [%rd3], %f2;
)";
}

}  // namespace

TEST_CASE("threads of a block hand over numbers behind a barrier") {
  memory.assign(64, -1);
  run(exchange_in_shared("bar.sync 0;"), 1, 64);
  CHECK(memory == std::vector<float>(64, 63));
  CHECK(faults.empty());
  SECTION("one of a warp is not enough") {
    run(exchange_in_shared("bar.warp.sync -1;"), 1, 64);
    CHECK(has(faults, "writes what another thread reads, with no barrier between"));
  }
  SECTION("without one it is told") {
    run(exchange_in_shared(""), 1, 64);
    CHECK(has(faults,
              "'st.shared.f32 [%r5], %f1' of thread 63 of block (0, 0) in k writes what "
              "another thread reads, with no barrier between"));
    CHECK(has(faults,
              "'ld.shared.f32 %f2, [shared+252]' of thread 32 of block (0, 0) in k reads "
              "what another thread writes, with no barrier between"));
  }
}

TEST_CASE("blocks have nothing to do with each other") {
  memory.assign(64, 2);
  const std::string add_own = R"(
  mov.u32 %r3, %ctaid.x;
  mul.wide.u32 %rd4, %r3, 128;
  add.s64 %rd3, %rd3, %rd4;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f1, %f1, %f1;
  st.global.f32 [%rd3], %f1;
)";
  run(add_own, 2, 32);
  CHECK(memory == std::vector<float>(64, 4));
  CHECK(faults.empty());
  run(R"(
  mov.u32 %r3, %ctaid.x;
  cvt.rn.f32.u32 %f1, %r3;
  st.global.f32 [%rd3], %f1;
)",
      2, 32);
  CHECK(has(faults, "of block (1, 0) in k writes what another block writes"));
  // What is written is not to be read by way of the cache of constants.
  run("st.global.f32 [%rd3], 0f3F800000;\n bar.warp.sync -1;\n ld.global.nc.f32 %f1, [%rd3];", 1,
      32);
  CHECK(has(faults, "reads through the read-only cache what the kernel writes"));
}

TEST_CASE("addresses are those of arrays, and whole words of the access") {
  memory.assign(32, 1);
  CHECK(has(failure_of("ld.global.f32 %f1, [%rd3+128];"),
            "'ld.global.f32 %f1, [%rd3+128]' of thread 0 of block (0, 0) in k reads memory that is "
            "none of the device's"));
  CHECK(has(failure_of("st.global.v4.f32 [%rd1+4], {%f1, %f1, %f1, %f1};"),
            "writes 16 bytes at an address that ends in "));
  CHECK(has(failure_of("ld.shared.u32 %r3, [shared+1024];"),
            "reaches shared memory at 1024 of 1024 bytes"));
  CHECK(has(failure_of("ld.param.u64 %rd4, [array+8];"), "leaves the parameters"));
}

TEST_CASE("threads of a warp go ways of their own and meet again") {
  memory.assign(32, 0);
  run(R"(
  and.b32 %r3, %r2, 1;
  setp.eq.u32 %p1, %r3, 0;
  mov.u32 %r4, 0;
  @%p1 bra even;
again:
  add.s32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, %r2;
  @%p2 bra again;
even:
  shfl.sync.bfly.b32 %r5|%p3, %r4, 1, 31, -1;
  add.s32 %r5, %r5, %r4;
  cvt.rn.f32.u32 %f1, %r5;
  st.global.f32 [%rd3], %f1;
)",
      1, 32);
  for (int i = 0; i < 32; ++i)
    CHECK(memory[static_cast<std::size_t>(i)] == static_cast<float>(i | 1));
  CHECK(faults.empty());
  const std::string some = "setp.lt.u32 %p1, %r2, 7;\n @%p1 bra behind;\n";
  CHECK(has(failure_of(some + "bar.sync 0;\n bra.uni end;\nbehind:\n bar.sync 0;\nend:"),
            "is not reached by all threads of a warp that it needs"));
  CHECK(has(failure_of(some + "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\n bra.uni end;\nbehind:\n "
                              "bar.warp.sync -1;\nend:"),
            "is not reached by all threads of a warp that it needs"));
  // Whoever has left is not waited for.
  CHECK(failure_of(some + "bar.sync 0;\nbehind:") == "");
}

TEST_CASE("parts of a warp exchange numbers each by itself") {
  // Four threads each; the later ones go around more often, and nobody else is waited for.
  memory.assign(32, 0);
  run(R"(
  and.b32 %r3, %r2, 28;
  shr.u32 %r4, %r3, 2;
  mov.u32 %r6, 15;
  shl.b32 %r6, %r6, %r3;
  mov.u32 %r5, %r2;
  mov.u32 %r7, 0;
again:
  shfl.sync.bfly.b32 %r8|%p3, %r5, 1, 31, %r6;
  add.s32 %r5, %r5, %r8;
  add.s32 %r7, %r7, 1;
  setp.le.u32 %p2, %r7, %r4;
  @%p2 bra again;
  bar.warp.sync %r6;
  cvt.rn.f32.u32 %f1, %r5;
  st.global.f32 [%rd3], %f1;
)",
      1, 32);
  for (int i = 0; i < 32; ++i)
    CHECK(memory[static_cast<std::size_t>(i)] == static_cast<float>((i + (i ^ 1)) << i / 4));
  CHECK(faults.empty());
  CHECK(has(failure_of("and.b32 %r3, %r2, 1;\n setp.eq.u32 %p1, %r3, 0;\n @%p1 bra behind;\n"
                       "shfl.sync.bfly.b32 %r3, %r2, 1, 31, 15;\n bra.uni end;\nbehind:\n"
                       "bar.warp.sync 15;\nend:"),
            "is not reached by all threads of a warp that it needs"));
}

TEST_CASE("sums of all threads by atomics are no race") {
  memory.assign(1, 0);
  run("atom.global.add.u32 %r3, [%rd1], 1;", 3, 64);
  std::uint32_t sum = 0;
  std::memcpy(&sum, memory.data(), 4);
  CHECK(sum == 3 * 64);
  CHECK(faults.empty());
}

TEST_CASE("numbers round as an instruction says") {
  memory.assign(8, 0);
  // 1 + 2^-24 + 2^-30 in single steps: to nearest, down, to zero; whole numbers; out of range.
  run(R"(
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f33900000;
  add.f32 %f3, %f1, %f2;
  fma.rm.f32 %f4, %f1, %f1, %f2;
  add.rz.f32 %f5, %f1, %f2;
  mov.f32 %f6, 0f40200000;
  cvt.rni.f32.f32 %f7, %f6;
  cvt.rzi.s32.f32 %r3, 0f4F800000;
  cvt.rn.f32.s32 %f8, %r3;
  bfe.u32 %r4, 0x7FFF1234, 4, 8;
  cvt.rn.f32.u32 %f9, %r4;
  st.global.v4.f32 [%rd1], {%f3, %f4, %f5, %f7};
  st.global.v2.f32 [%rd1+16], {%f8, %f9};
)",
      1, 1);
  CHECK(memory[0] == std::nextafter(1.0f, 2.0f));
  CHECK(memory[1] == 1);
  CHECK(memory[2] == 1);
  CHECK(memory[3] == 2);
  CHECK(memory[4] == 0x1p31f);
  CHECK(memory[5] == 0x23);
}

TEST_CASE("what is not known is told by its name") {
  memory.assign(32, 0);
  CHECK(failure_of("fma.rp.f32 %f1, %f1, %f1, %f1;") ==
        "ptx: the instruction fma.rp.f32 is not known");
  CHECK(failure_of("add.f32 %f1, %f1, %f77;") == "ptx: expected an operand in '%f77'");
  CHECK(failure_of("bra.uni nowhere;") == "ptx: expected a label in 'nowhere'");
}
