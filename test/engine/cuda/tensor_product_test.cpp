// SPDX-License-Identifier: Apache-2.0
// Products by tensor cores, with the lanes of a warp as the hardware numbers them, on the host:
// whole numbers that are not rounded give the exact product, others one with rounded operands.
#include <algorithm>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/conv_kernels.hpp>
#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/matmul_kernels.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>

namespace cuda = lamina::engine::cuda;
using cuda::bfloat16_format, cuda::float16_format, cuda::float32_format, cuda::tf32_format;
using lamina::group_head;

namespace {

using host = cuda::host_backend<1>;
template <class Format>
using tensors = cuda::tensor_backend<host, Format>;

float bits(std::uint32_t b) { return std::bit_cast<float>(b); }

/// What a number becomes as an operand.
template <class Format>
float rounded(float x) {
  const float all[2] = {x, 0};
  float these[Format::terms];
  for (int i = 0; i < Format::terms; ++i) these[i] = all[i];
  return Format::value(Format::word(these), 0);
}

/// A matrix in memory of padded rows whose padding is not a number, so that it must not be read as
/// one; `shift` floats away from where packs are aligned.
struct matrix {
  int rows, columns, stride, shift;
  std::vector<float> memory;

  matrix(int r, int c, int gap = -1, int away = 0)
      : rows(r),
        columns(c),
        stride(gap < 0 ? lamina::padded(c) : c + gap),
        shift(away),
        memory(static_cast<std::size_t>(r * stride + away + 64),
               std::numeric_limits<float>::quiet_NaN()) {}
  float* data() {
    float* from = memory.data();
    while (reinterpret_cast<std::uintptr_t>(from) % 64 != 0) ++from;
    return from + shift;
  }
  float& at(int r, int c) { return data()[r * stride + c]; }
  template <class F>
  matrix& fill(const F& f) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) at(r, c) = f();
    return *this;
  }
};

using keep_head = cuda::detail::keep_head;

/// A thread of a team of two warps that wait for each other: those of a warp at its products, all
/// of them at barriers.
struct warp_thread {
  static constexpr int lanes = 1, threads = 64;
  struct meeting {
    std::barrier<> all{threads}, warp[2]{std::barrier<>(32), std::barrier<>(32)};
    const std::uint32_t *left[threads], *right[threads];
    float* sums[threads];
  };
  int index, count, number;
  meeting* here;

  int rank(int) const { return number; }
  void barrier() const { here->all.arrive_and_wait(); }
  template <class Format>
  void multiply(float (&sums)[4], const std::uint32_t (&left)[4],
                const std::uint32_t (&right)[2]) const {
    here->sums[number] = sums;
    here->left[number] = left;
    here->right[number] = right;
    here->warp[number / 32].arrive_and_wait();
    if (number % 32 == 0)
      cuda::multiply_on_host<Format>([&](int lane) { return here->left[number + lane]; },
                                     [&](int lane) { return here->right[number + lane]; },
                                     [&](int lane) { return here->sums[number + lane]; });
    here->warp[number / 32].arrive_and_wait();
  }
};

/// A place whose teams are such threads.
template <class Format>
struct place_of_warps {
  using product_tile = cuda::tensor_shape<Format, 32, 16, 32, 2, 1>;
  template <class Body>
  void teams(const typename Body::arguments& g) {
    const auto shared = std::make_unique<typename Body::shared>();
    warp_thread::meeting here;
    std::vector<std::thread> threads;
    for (int n = 0; n < warp_thread::threads; ++n)
      threads.emplace_back([&, n] { Body::run(g, warp_thread{0, 1, n, &here}, *shared); });
    for (std::thread& t : threads) t.join();
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    for (int i = 0; i < a.count; ++i) Body::run(a, i);
  }
};

/// Small images of a convolution by 3 x 3 with padding, or large ones from them: whether whole
/// numbers come out exactly. Sides are equal, so the two are mirror images.
template <cuda::conv_kind Kind, class Backend>
void check_convolution(int made, int read) {
  constexpr bool forward = Kind == cuda::conv_kind::forward;
  constexpr int rows = 3, side = 5, size = side * side, taps = 9;
  std::mt19937 random(7);
  const auto whole = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
  matrix from(rows, read * size), to(rows, made * size);
  matrix filter(forward ? made : read, (forward ? read : made) * taps, 0);
  from.fill(whole), filter.fill(whole);
  lamina::engine::conv_shape s;
  s.large_channels = filter.columns / taps;
  s.small_channels = filter.rows;
  for (int d = 1; d < 3; ++d) s.side[d] = {side, side, 3, 1, 1, 1};
  const auto operand_of = [](matrix& m) {
    lamina::engine::operand o{};
    o.data = m.data();
    o.rows = m.rows;
    o.columns = m.columns;
    o.stride = m.stride;
    return o;
  };
  Backend place;
  cuda::detail::convolve<Kind>(place, s, operand_of(from), operand_of(filter), operand_of(to));
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < made; ++c)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          float sum = 0;
          for (int k = 0; k < read; ++k)
            for (int t = 0; t < taps; ++t) {
              const int dy = t / 3 - 1, dx = t % 3 - 1;
              const int v = forward ? y + dy : y - dy, h = forward ? x + dx : x - dx;
              if (v < 0 || v >= side || h < 0 || h >= side) continue;
              sum += from.at(r, k * size + v * side + h) *
                     (forward ? filter.at(c, k * taps + t) : filter.at(k, c * taps + t));
            }
          wrong += to.at(r, c * size + y * side + x) != sum;
        }
  CHECK(wrong == 0);
}

/// The product of a head by the tensor cores of a host: rows of padded width.
template <class Format, group_head Head, class Backend = tensors<Format>>
matrix product(matrix& left, matrix& right, int rows, int columns, int depth) {
  using body = cuda::product_body<Head, keep_head, typename Backend::product_tile>;
  matrix to(rows, columns);
  typename body::arguments g{};
  g.of[0] = left.data();
  g.of[1] = right.data();
  g.of[2] = to.data();
  g.rows = rows;
  g.columns = columns;
  g.width = to.stride;
  g.depth = depth;
  g.left_stride = left.stride;
  g.right_stride = right.stride;
  g.channels = 1;
  Backend().template teams<body>(g);
  return to;
}

/// Whether all three heads give the exact product of small whole numbers.
template <class Format, class Backend = tensors<Format>>
void check_exact(int rows, int columns, int depth, int gap, int shift) {
  CAPTURE(rows, columns, depth, gap, shift);
  std::mt19937 random(7);
  const auto whole = [&] { return static_cast<float>(static_cast<int>(random() % 31) - 15); };
  matrix x(rows, depth, gap, shift), w(depth, columns, gap, shift);
  matrix wt(columns, depth, gap, shift), xt(depth, rows, gap, shift);
  x.fill(whole), w.fill(whole);
  for (int k = 0; k < depth; ++k) {
    for (int j = 0; j < columns; ++j) wt.at(j, k) = w.at(k, j);
    for (int i = 0; i < rows; ++i) xt.at(k, i) = x.at(i, k);
  }
  matrix a = product<Format, group_head::gemm, Backend>(x, w, rows, columns, depth);
  matrix b = product<Format, group_head::gemm_dx, Backend>(x, wt, rows, columns, depth);
  matrix c = product<Format, group_head::gemm_dw, Backend>(xt, w, rows, columns, depth);
  int wrong = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += x.at(i, k) * w.at(k, j);
      wrong += a.at(i, j) != sum || b.at(i, j) != sum || c.at(i, j) != sum;
    }
  CHECK(wrong == 0);
}

template <class Format>
void check_exact() {
  check_exact<Format>(1, 1, 1, -1, 0);
  check_exact<Format>(64, 64, 32, -1, 0);
  check_exact<Format>(70, 5, 33, -1, 0);
  check_exact<Format>(7, 130, 100, -1, 0);
  check_exact<Format>(65, 66, 67, -1, 0);
  // Rows whose packs are not aligned, as those of data that lie as they came.
  check_exact<Format>(33, 18, 13, 0, 0);
  check_exact<Format>(33, 20, 44, 0, 1);
  // No terms: the sum of nothing.
  check_exact<Format>(3, 5, 0, -1, 0);
}

}  // namespace

TEST_CASE("tensor cores multiply whole numbers exactly, of every size and way of lying") {
  SECTION("float32") { check_exact<float32_format>(); }
  SECTION("tf32") { check_exact<tf32_format>(); }
  SECTION("bfloat16") { check_exact<bfloat16_format>(); }
  SECTION("float16") { check_exact<float16_format>(); }
}

// What this tests are the barriers: a thread sanitizer sees where one is missing.
TEST_CASE("warps that wait for each other multiply as one after the other do", "[threads]") {
  check_exact<float32_format, place_of_warps<float32_format>>(40, 17, 100, -1, 0);
  check_exact<tf32_format, place_of_warps<tf32_format>>(40, 17, 100, -1, 0);
  check_exact<bfloat16_format, place_of_warps<bfloat16_format>>(40, 17, 100, -1, 0);
  check_exact<float16_format, place_of_warps<float16_format>>(40, 17, 100, -1, 0);
}

TEST_CASE("warps side by side convolve as one after the other do", "[threads]") {
  using enum cuda::conv_kind;
  check_convolution<forward, place_of_warps<float32_format>>(11, 4);
  check_convolution<spread, place_of_warps<float32_format>>(17, 4);
  check_convolution<forward, place_of_warps<tf32_format>>(11, 4);
  check_convolution<spread, place_of_warps<tf32_format>>(17, 4);
  check_convolution<forward, place_of_warps<bfloat16_format>>(17, 4);
  check_convolution<spread, place_of_warps<float16_format>>(11, 4);
  // With all lanes.
  check_convolution<forward, tensors<tf32_format>>(20, 7);
  check_convolution<spread, tensors<tf32_format>>(33, 7);
}

TEST_CASE("operands are rounded to the nearest, sums are not") {
  // 1 and the half of tf32's last place: away from zero. A little less: down.
  CHECK(rounded<tf32_format>(bits(0x3f801000)) == bits(0x3f802000));
  CHECK(rounded<tf32_format>(bits(0xbf801000)) == bits(0xbf802000));
  CHECK(rounded<tf32_format>(bits(0x3f800fff)) == 1);
  // bfloat16: of two the even one.
  CHECK(rounded<bfloat16_format>(bits(0x3f808000)) == 1);
  CHECK(rounded<bfloat16_format>(bits(0x3f818000)) == bits(0x3f820000));
  CHECK(rounded<bfloat16_format>(bits(0x3f808001)) == bits(0x3f810000));
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(rounded<tf32_format>(infinite) == infinite);
  CHECK(rounded<bfloat16_format>(-infinite) == -infinite);
  CHECK(rounded<tf32_format>(std::numeric_limits<float>::max()) == infinite);
  // float16: of two the even one; infinite from the middle behind the largest on.
  CHECK(rounded<float16_format>(bits(0x3f801000)) == 1);
  CHECK(rounded<float16_format>(bits(0x3f803000)) == bits(0x3f804000));
  CHECK(rounded<float16_format>(-65519) == -65504);
  CHECK(rounded<float16_format>(-65520) == -infinite);
  for (const std::uint32_t nan : {0x7fffffffu, 0x7f800001u, 0xffffffffu}) {
    CHECK(std::isnan(rounded<tf32_format>(bits(nan))));
    CHECK(std::isnan(rounded<bfloat16_format>(bits(nan))));
    CHECK(std::isnan(rounded<float16_format>(bits(nan))));
  }
  std::mt19937 random(3);
  std::normal_distribution<float> number;
  for (int i = 0; i < 1000; ++i) {
    const float x = number(random);
    CHECK(std::abs(rounded<tf32_format>(x) - x) <= std::ldexp(std::abs(x), -11));
    CHECK(std::abs(rounded<bfloat16_format>(x) - x) <= std::ldexp(std::abs(x), -8));
  }
  // 300 terms of 1 + 2^-12: an operand of tf32 is 1; the sum of 300 is no bfloat16, but stays.
  const auto sum_of = [&]<class Format>(Format, float x) {
    matrix left(1, 300), right(300, 1);
    left.fill([&] { return x; });
    right.fill([] { return 1.0f; });
    return product<Format, group_head::gemm>(left, right, 1, 1, 300).at(0, 0);
  };
  CHECK(sum_of(tf32_format{}, bits(0x3f800800)) == 300);
  // A sum of float16 leaves their range.
  CHECK(sum_of(float16_format{}, 1024) == 300 * 1024);
  CHECK(sum_of(bfloat16_format{}, bits(0x3f804000)) == 300);
  CHECK(sum_of(bfloat16_format{}, 0.5f) == 150);
  CHECK(sum_of(bfloat16_format{}, bits(0x3f810000)) == 300 * bits(0x3f810000));
}

TEST_CASE("floats are multiplied as two numbers each, to the last digits") {
  // What a number is the sum of: nothing is lost but what multipliers do not see.
  std::mt19937 random(5);
  std::normal_distribution<float> number;
  for (int i = 0; i < 1000; ++i) {
    const float x = number(random);
    const std::uint32_t w = std::bit_cast<std::uint32_t>(x);
    const float high = bits(float32_format::high(w)), low = bits(float32_format::low(w));
    CHECK((float32_format::high(w) & 0x1fffu) == 0);
    CHECK(high + low == x);
    CHECK(std::abs(low) <= std::ldexp(std::abs(x), -11));
    const float seen = tf32_format::value(std::bit_cast<std::uint32_t>(low), 0);
    CHECK(std::abs(low - seen) <= std::ldexp(std::abs(x), -23));
  }
  // As near to the sum as floats come, and far nearer than tf32: of terms of one sign, where what
  // is cut off would add up, and of either.
  constexpr int depth = 2000, rows = 5, columns = 7;
  matrix left(rows, depth), right(depth, columns);
  const auto furthest = [&]<class Format>(Format) {
    matrix to = product<Format, group_head::gemm>(left, right, rows, columns, depth);
    double worst = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        double sum = 0, size = 0;
        for (int k = 0; k < depth; ++k) {
          const double term = static_cast<double>(left.at(i, k)) * right.at(k, j);
          sum += term, size += std::abs(term);
        }
        worst = std::max(worst, std::abs(to.at(i, j) - sum) / size);
      }
    return worst;
  };
  left.fill([&] { return number(random); });
  right.fill([&] { return number(random); });
  CHECK(furthest(float32_format{}) < 3e-7);
  CHECK(furthest(tf32_format{}) > 3e-6);
  std::uniform_real_distribution<float> positive(1, 2);
  left.fill([&] { return positive(random); });
  right.fill([&] { return positive(random); });
  CHECK(furthest(float32_format{}) < 3e-6);
  // What is no number stays none; what is infinite becomes none.
  for (const float x : {bits(0x7fffffffu), bits(0x7f800001u), bits(0xffffffffu),
                        std::numeric_limits<float>::infinity()}) {
    left.at(1, 3) = x;
    matrix to = product<float32_format, group_head::gemm>(left, right, rows, columns, depth);
    CHECK(std::isnan(to.at(1, 0)));
    CHECK(std::isfinite(to.at(0, 0)));
  }
}
