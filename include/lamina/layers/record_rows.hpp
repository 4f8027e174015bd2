// SPDX-License-Identifier: Apache-2.0
// lamina/layers/record_rows.hpp - rows that a mask selects, in programs from files.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The key of rows that have a name: `chosen<batch, row_key<"positive">>`.
template <fixed_string Name>
struct row_key {
  static constexpr auto name = Name;
};

namespace layer {

/// Opens the rows R = chosen<Of, row_key<"name">>, which record<split_lod_tensor> makes, so that
/// variables of the following operators may have them. Programs that are written by hand use
/// layer::if_else, which opens its rows itself.
template <row_domain R>
constexpr void open_rows(const block& main) {
  program_builder& b = *main.builder;
  b.open_domain(&domain_mark<R>, R::key::name.view(), rows_of<typename R::parent>(b), R::kind, -1);
}

}  // namespace layer
}}  // namespace lamina
