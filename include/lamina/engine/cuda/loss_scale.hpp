// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/loss_scale.hpp - the factor that keeps gradients within the range of narrow
// operands: found, applied and taken back at the place.
#pragma once

#include <cstring>

#include <lamina/core/config.hpp>
#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/element_loops.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda {

/// Whether gradients of products by a backend need a scaled cost: its operands have fewer exponents
/// than a float.
template <class Backend>
concept scales_cost = requires {
  requires Backend::product_tile::format::few_exponents;
};

/// The factor of this step's gradients, what takes it back, the steps without overflow since it
/// last changed, and whether this step had one.
struct loss_scale_state {
  float scale, inverse;
  int good, skipped;
};

/// The rule of P. Micikevicius et al., "Mixed Precision Training" (2018), 3.2, with the numbers of
/// Fluid's update_loss_scaling and of those who came after: twice the factor after so many steps
/// without overflow, as long as that is a number; half of it, and no update, at an overflow.
struct loss_scale_rule {
  static constexpr float first = 32768, least = 1;
  static constexpr int interval = 2000;

  static LAMINA_INLINE LAMINA_FN void decide(loss_scale_state& s, bool overflow) {
    s.inverse = 1 / s.scale;
    s.skipped = overflow ? 1 : 0;
    s.good = overflow ? 0 : s.good + 1;
    if (overflow)
      s.scale = s.scale * 0.5f < least ? least : s.scale * 0.5f;
    else if (s.good >= interval) {
      s.good = 0;
      if (s.scale < 0x1p62f) s.scale *= 2;
    }
  }
};

namespace detail {

/// An overflow is in the sum of the squares of all gradients.
struct loss_scale_lines {
  struct arguments {
    const double* squares;
    loss_scale_state* state;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    double sum = 0;
    for (int k = team.rank(); k < a.width; k += team.size()) sum += a.squares[k];
    sum = sum_of(team, sum);
    // What is not a number is not equal to itself, and so is infinity less itself.
    if (team.rank() == 0) loss_scale_rule::decide(*a.state, !(sum - sum == 0));
  }
};

/// Takes the factor back in the scale of gradient i.
struct unscale_body {
  struct arguments {
    const loss_scale_state* state;
    float* scale;
    int apart, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    a.scale[i * a.apart] *= a.state->inverse;
  }
};

/// A body that does nothing in a step that is skipped ...
template <class Body>
struct unless_skipped {
  struct arguments : Body::arguments {
    const loss_scale_state* state;
  };
  template <class At>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const At& at) {
    if (a.state->skipped == 0) Body::run(a, at);
  }
};
/// ... and one that goes over cells.
template <class Body>
struct unless_skipped_cells {
  using arguments = typename unless_skipped<Body>::arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const position& at) {
    if (a.state->skipped == 0) Body::run(a, at);
  }
};

}  // namespace detail

/// A backend for updates that a skipped step leaves away; the host need not know of it.
template <class Backend>
struct unless_skipped_backend {
  Backend& backend;
  const loss_scale_state* state;

  template <class Body>
  void cells(const typename Body::arguments& a) {
    backend.template cells<detail::unless_skipped_cells<Body>>({a, state});
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    backend.template lines<detail::unless_skipped<Body>>({a, state});
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    backend.template elements<detail::unless_skipped<Body>>({a, state});
  }
  template <class Terms, class Result>
  void sum(int count, const Terms& terms, const Result& result, void* scratch) {
    backend.sum(count, terms, result, scratch);
  }
};

/// The factor at a place, and what the host last saw of it.
template <class Backend>
class loss_scale {
 public:
  LAMINA_COLD explicit loss_scale(Backend& b) : backend_(b), at_place_(b), seen_(b) {
    at_place_.reserve(sizeof(loss_scale_state));
    seen_.reserve(sizeof(loss_scale_state));
    set({loss_scale_rule::first, 1 / loss_scale_rule::first, 0, 0});
  }

  /// The gradient of the cost, at the place.
  const float* cost_gradient() const { return &at_place()->scale; }
  unless_skipped_backend<Backend> updates() { return {backend_, at_place()}; }

  /// Whether this step is skipped, from the sums of squares of its gradients. Gradient i is scaled
  /// by scales[i * apart] in its update: the factor is taken back there.
  void decide(const double* squares, int parts, float* scales, int apart, int count) {
    backend_.template lines<team_lines<detail::loss_scale_lines>>(
        {squares, at_place(), 1, parts, 1});
    backend_.template elements<detail::unscale_body>({at_place(), scales, apart, count});
    backend_.download(seen_.data(), at_place(), sizeof(loss_scale_state));
  }
  /// After a step that has been waited for, or set().
  loss_scale_state seen() const {
    loss_scale_state s;
    std::memcpy(&s, seen_.data(), sizeof(s));
    return s;
  }
  LAMINA_COLD void set(const loss_scale_state& s) {
    std::memcpy(seen_.data(), &s, sizeof(s));
    backend_.upload(at_place(), seen_.data(), sizeof(s));
    backend_.wait();
  }

 private:
  loss_scale_state* at_place() const {
    return reinterpret_cast<loss_scale_state*>(at_place_.data());
  }

  Backend& backend_;
  device_buffer<Backend> at_place_;
  staging_buffer<Backend> seen_;
};

}  // namespace lamina::engine::cuda
