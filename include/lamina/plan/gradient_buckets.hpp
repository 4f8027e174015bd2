// SPDX-License-Identifier: Apache-2.0
// lamina/plan/gradient_buckets.hpp - divides the gradients of a program into buckets, in the order
// in which the gradients are complete. Processes exchange one bucket at a time, while later
// gradients are still computed.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/plan/gradient_order.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The default size of a bucket in bytes.
inline constexpr std::size_t usual_bucket_bytes = std::size_t{256} << 10;

/// A slice of a parameter's gradient that belongs to one bucket: floats [first, end).
struct bucket_range {
  int bucket, parameter;
  std::size_t first, end;
};

/// Divides gradients into buckets of at most `most` floats, in the order in which they are
/// complete. Calls add(bucket_range) for each part, bucket by bucket. A gradient begins a new
/// bucket if it does not fit into the current bucket. It also begins a new bucket if the current
/// bucket is more than an eighth full of gradients that are complete earlier, because the exchange
/// of these gradients would have to wait. A gradient larger than a bucket is divided evenly over
/// several buckets, unless `whole` is set. `floats` holds the size of each gradient, a multiple of
/// alignment_floats, or 0 for a parameter without gradient; `order` is temporary memory for `count`
/// numbers.
template <class Add>
constexpr void each_bucket_range(const gradient_times* times, const std::size_t* floats, int count,
                                 std::size_t most, bool whole, int* order, Add&& add) {
  int used = 0;
  for (int i = 0; i < count; ++i) {
    if (floats[i] == 0) continue;
    int at = used++;
    for (; at > 0 && times[order[at - 1]].complete > times[i].complete; --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int bucket = -1, complete = -1;
  std::size_t filled = 0;
  for (int k = 0; k < used; ++k) {
    const int i = order[k];
    const std::size_t n = floats[i], lines = n / alignment_floats;
    const bool delays = times[i].complete != complete && filled > most / 8;
    if (bucket < 0 || filled + n > most || delays) ++bucket, filled = 0;
    complete = times[i].complete;
    std::size_t ranges = whole ? 1 : (n + most - 1) / most;
    if (ranges > lines) ranges = lines;
    for (std::size_t p = 0; p < ranges; ++p) {
      const std::size_t first = lines * p / ranges * alignment_floats,
                        end = lines * (p + 1) / ranges * alignment_floats;
      if (p > 0) ++bucket, filled = 0;
      add(bucket_range{bucket, i, first, end});
      filled += end - first;
    }
  }
}

/// The buckets of training program P as a constant table.
template <program_type P, std::size_t Bytes = usual_bucket_bytes>
struct gradient_buckets {
  static constexpr int parameters = P::desc.count.parameters;

  template <class Add>
  static constexpr void each(Add&& add) {
    std::size_t floats[bound(parameters)] = {};
    int order[bound(parameters)] = {};
    for (int i = 0; i < parameters; ++i)
      if (gradient_order<P>::table.of[i].complete >= 0 && rows_gradient_table<P>::table.of[i] < 0) {
        const variable_desc& d = P::desc.variables[P::desc.parameters[i].variable];
        floats[i] = static_cast<std::size_t>(parameter_table<P>::table.of[i].rows) *
                    static_cast<std::size_t>(padded(parameter_table<P>::table.of[i].columns)) *
                    static_cast<std::size_t>(size_of(d.type)) / sizeof(float);
      }
    each_bucket_range(gradient_order<P>::table.of, floats, parameters, Bytes / sizeof(float), false,
                      order, add);
  }
  struct counts {
    int buckets, parts;
  };
  static constexpr counts count = [] {
    counts c{};
    each([&](const bucket_range& p) { c.buckets = p.bucket + 1, ++c.parts; });
    return c;
  }();

  struct bucket {
    int first, count;  // a range of `parts`
    int complete;      // the group after which all its gradients are complete
    int last_read;     // the last group that reads one of its parameters
    std::size_t floats;
  };
  struct table_type {
    bucket_range parts[bound(count.parts)];
    bucket of[bound(count.buckets)];
  };
  static constexpr table_type table = [] {
    table_type t{};
    for (bucket& b : t.of) b = {0, 0, -1, -1, 0};
    int n = 0;
    each([&](const bucket_range& p) {
      bucket& b = t.of[p.bucket];
      const gradient_times& times = gradient_order<P>::table.of[p.parameter];
      if (b.count++ == 0) b.first = n;
      if (b.complete < times.complete) b.complete = times.complete;
      if (b.last_read < times.last_read) b.last_read = times.last_read;
      b.floats += p.end - p.first;
      t.parts[n++] = p;
    });
    return t;
  }();
};

}}  // namespace lamina
