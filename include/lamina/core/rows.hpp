// SPDX-License-Identifier: Apache-2.0
// lamina/core/rows.hpp - what the leading dimension of a variable means.
#pragma once

#include <cstdint>

#include <lamina/core/fixed_string.hpp>

namespace lamina {

/// How the rows of a domain come from its parent's.
enum class domain_kind : std::uint8_t {
  once,      // no rows
  batch,     // the samples
  sequence,  // the elements of one sequence for each row of the parent
  subset,    // the rows of the parent that a condition chose
  step       // at one time step: the rows of the parent whose sequences are long enough
};

/// No leading run-time dimension: parameters, scalars, anything whose shape is known whole.
struct once {
  static constexpr domain_kind kind = domain_kind::once;
  static constexpr int domain = 0;
  static constexpr int lod_level = 0;
};

/// One row for each sample of the mini-batch; how many is known when a batch is fed.
struct batch {
  static constexpr domain_kind kind = domain_kind::batch;
  static constexpr int domain = 1;
  static constexpr int lod_level = 0;
};

/// One row for each element of the sequences that were fed, or made, under `Name`. Each row of
/// `Parent` has one sequence: `tokens<"words">` are the words of sentences, one sentence a sample;
/// `tokens<"words", tokens<"sentences">>` the words of the sentences of documents, one document a
/// sample. Its number among the domains of a program is rows_of<R>(builder).
/// Why members instead of a deduced template argument: nvcc cannot deduce one of class type.
template <fixed_string Name, class Parent = batch>
struct tokens {
  using parent = Parent;
  static constexpr domain_kind kind = domain_kind::sequence;
  static constexpr auto name = Name;
  static constexpr int lod_level = Parent::lod_level + 1;
};

/// The rows of R that the condition of an if_else chose for one of its branches. `Key` is the
/// branch, so the rows of two branches never mix.
template <class R, class Key>
struct chosen {
  using parent = R;
  using key = Key;
  static constexpr domain_kind kind = domain_kind::subset;
  static constexpr int lod_level = 0;
};

/// The rows at one time step of sequences R: one row for each sequence that is long enough.
template <class R, class Key>
struct at_step {
  using parent = typename R::parent;
  using key = Key;
  static constexpr domain_kind kind = domain_kind::step;
  static constexpr int lod_level = 0;
};

/// Its address stands for a type R during recording.
template <class R>
inline constexpr char domain_mark = 0;

/// Whether R names a row domain.
template <class R>
concept row_domain = requires {
  {R::kind};
  {R::lod_level + 0};
};

/// Whether a variable of this domain has a leading run-time number of rows.
template <class R>
inline constexpr bool has_rows = R::kind != domain_kind::once;

/// Whether R is a domain of sequences: each of its rows belongs to a row of `R::parent`.
template <class R>
inline constexpr bool is_tokens = R::kind == domain_kind::sequence;

}  // namespace lamina
