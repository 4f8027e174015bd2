// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/batch_view.hpp - refers to a mini-batch that is stored as one array per data
// layer.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// A data layer of a program: the number of elements per row, their type, and the row domain.
struct data_layer {
  int columns;  // of data_once: the number of all elements
  dtype type;
  int domain;
  int parent;       // the domain of the sequences that contain the rows, or -1
  int grandparent;  // the domain of the sequences that contain these sequences, or -1
};
template <program_type P>
struct data_layers {
  data_layer of[bound(counts_of<P>.data)];
};
template <program_type P>
constexpr data_layers<P> find_data_layers() {
  data_layers<P> t{};
  const auto parent = [](int domain) {
    return domain >= 0 && P::desc.domains[domain].kind == domain_kind::sequence
               ? P::desc.domains[domain].parent
               : -1;
  };
  for (int i = 0; i < counts_of<P>.data; ++i) {
    const variable_desc& d = P::desc.variables[P::desc.data[i]];
    t.of[i] = {1, d.type, d.rows, parent(d.rows), parent(parent(d.rows))};
    for (int k = d.rows == once::domain ? 0 : 1; k < d.rank; ++k)
      t.of[i].columns *= P::desc.dims[d.dims + k];
  }
  return t;
}
template <program_type P>
inline constexpr data_layers<P> data_layers_of = find_data_layers<P>();

}  // namespace detail

/// Refers to a mini-batch: to one array per data layer, and to the offsets of the sequences. All of
/// them must outlive the view.
template <program_type P>
struct batch_view {
  static constexpr int layers = counts_of<P>.data;
  static constexpr int domains = counts_of<P>.domains;

  const std::byte* data[bound(layers)] = {};
  engine::domain_rows<domains> rows;

  /// Makes a view of a mini-batch without sequences. If it is a part of a larger mini-batch,
  /// `first_row` is the position of its first sample there.
  static batch_view dense(int rows, const void* const* arrays, std::int64_t first_row = 0) {
    batch_view b;
    b.rows = engine::domain_rows<domains>(rows, first_row);
    for (int i = 0; i < layers; ++i) b.data[i] = static_cast<const std::byte*>(arrays[i]);
    return b;
  }

  /// Gives a machine the numbers of rows and the arrays of this mini-batch.
  template <class Machine>
  void feed_to(Machine& machine) const {
    machine.bind(rows);
    for (int i = 0; i < layers; ++i) machine.feed(i, data[i]);
  }

  int size() const { return rows.count[batch::domain]; }

  /// Returns the number of samples before a sample plus the number of elements of their sequences.
  std::int64_t count_before(int sample) const {
    int begins[bound(domains)] = {};
    begins[batch::domain] = sample;
    std::int64_t count = sample;
    for (int d = batch::domain + 1; d < domains; ++d) {
      if (rows.offsets[d] == nullptr) continue;
      begins[d] = rows.offsets[d][begins[parent_of(d)]] - rows.offsets[d][0];
      count += begins[d];
    }
    return count;
  }

  /// Returns the sample to which a row of a domain belongs; -1 if it is not known, because an
  /// operator, not the feeds, makes the rows of this domain.
  std::int64_t sample_of(int domain, std::int64_t row) const {
    if (domain >= domains) return -1;
    for (; domain > batch::domain; domain = parent_of(domain)) {
      const int* const offsets = rows.offsets[domain];
      const int sequences = offsets == nullptr ? 0 : rows.count[parent_of(domain)];
      int s = 0;
      while (s < sequences && offsets[s + 1] - offsets[0] <= row) ++s;
      if (s >= sequences) return -1;
      row = s;
    }
    return domain == batch::domain && row < size() ? row : -1;
  }

  /// Returns the position of a row of a domain among the rows of its sample; -1 for a domain with
  /// one row per sample, and if the sample is not known.
  std::int64_t position_of(int domain, std::int64_t row) const {
    const std::int64_t sample = sample_of(domain, row);
    return sample < 0 || domain <= batch::domain ? -1 : row - first_row(domain, sample);
  }
  /// Returns the first row of a domain that belongs to a sample.
  std::int64_t first_row(int domain, std::int64_t sample) const {
    if (domain <= batch::domain || domain >= domains) return sample;
    const int* const offsets = rows.offsets[domain];
    return offsets[first_row(parent_of(domain), sample)] - offsets[0];
  }

  /// Returns a view of the samples [first, end) with their sequences.
  batch_view part(int first, int end) const {
    batch_view p;
    int begins[bound(domains)] = {}, ends[bound(domains)] = {};
    begins[batch::domain] = first;
    ends[batch::domain] = end;
    // The loop sets the parent of a domain first, because it has a smaller number.
    for (int d = batch::domain; d < domains; ++d) {
      if (d > batch::domain && rows.offsets[d] != nullptr) {
        const int parent = parent_of(d);
        begins[d] = rows.offsets[d][begins[parent]] - rows.offsets[d][0];
        ends[d] = rows.offsets[d][ends[parent]] - rows.offsets[d][0];
        p.rows.offsets[d] = rows.offsets[d] + begins[parent];
      }
      p.rows.count[d] = ends[d] - begins[d];
      p.rows.first[d] = rows.first[d] + begins[d];
    }
    for (int i = 0; i < layers; ++i) {
      const detail::data_layer& l = detail::data_layers_of<P>.of[i];
      p.data[i] = data[i] + static_cast<std::size_t>(begins[l.domain]) *
                                static_cast<std::size_t>(l.columns * size_of(l.type));
    }
    return p;
  }

 private:
  static int parent_of(int d) {
    static constexpr auto parents = [] {
      struct {
        int of[bound(domains)];
      } t{};
      for (int i = 0; i < domains; ++i) t.of[i] = P::desc.domains[i].parent;
      return t;
    }();
    return parents.of[d];
  }
};

}}  // namespace lamina
