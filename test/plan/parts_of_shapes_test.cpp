// SPDX-License-Identifier: Apache-2.0
// Costs of operators over rows, shapes and images, in parts and of the whole.
#include "laws/parts_law.hpp"
#include "operators/conv/conv_rows.hpp"
#include "operators/embedding/embedding_rows.hpp"
#include "operators/fill/fill_rows.hpp"
#include "operators/matrix/matrix_rows.hpp"
#include "operators/metric/metric_rows.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/order/order_rows.hpp"
#include "operators/pool/pool_rows.hpp"
#include "operators/reduce/reduce_rows.hpp"
#include "operators/region/region_rows.hpp"
#include "operators/resize/resize_rows.hpp"
#include "operators/shape/shape_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("costs of products and lookups are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::matrix(law);
  rows::embedding(law);
  CHECK(law.allowed >= 20);
  CHECK(law.meeting == std::set<std::string>{"gather", "scatter"});
}

TEST_CASE("costs of metrics and norms are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::metric(law);
  rows::norm(law);
  rows::order(law);
  CHECK(law.allowed >= 20);
  CHECK(law.meeting == std::set<std::string>{"argsort", "norm"});
}

TEST_CASE("costs of reductions and shapes are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::reduce(law);
  rows::shape(law);
  rows::fill(law);
  CHECK(law.allowed >= 80);
  CHECK(law.meeting == std::set<std::string>{"cumsum", "where_index"});
}

TEST_CASE("costs of images are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::conv(law);
  rows::pool(law);
  rows::region(law);
  rows::resize(law);
  CHECK(law.allowed >= 60);
  CHECK(law.meeting == std::set<std::string>{});
}
