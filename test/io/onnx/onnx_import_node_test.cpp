// SPDX-License-Identifier: Apache-2.0
// onnx_import_node: NumPy's broadcasting by Fluid's operators, and dimensions of results.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/io/onnx/onnx_import_node.hpp>

using Catch::Contains;
using extents = std::vector<std::int64_t>;

namespace {

/// A node with two inputs. `same_rows`: their first dimensions are equal in each run.
struct pair_of {
  lamina::onnx_import to{"net.onnx", nullptr, 1000};
  lamina::onnx_node_message message{};
  lamina::onnx_import_node node;

  pair_of(const extents& x, const extents& y, bool same_rows = true)
      : node(to, named(message), 21, inputs(x, y, same_rows), nullptr) {}
  std::vector<lamina::onnx_imported> inputs(const extents& x, const extents& y, bool same_rows) {
    std::vector<lamina::onnx_imported> all{to.feed("x", lamina::dtype::float32, x),
                                           to.feed("y", lamina::dtype::float32, y)};
    if (same_rows && !y.empty() && y[0] < 0) all[1].dims[0] = all[0].dims[0];
    return all;
  }
  static const lamina::onnx_node_message& named(lamina::onnx_node_message& m) {
    m.name = "sum";
    m.type = "Add";
    m.inputs = {"x", "y"};
    m.outputs = {"z"};
    return m;
  }
  /// The operators that a sum of both needs, each with the dimensions of its result.
  std::string sum() { return operators(node.add(node.in(0), node.in(1))); }
  std::string difference() { return operators(node.sub(node.in(0), node.in(1))); }
  std::string operators(const lamina::onnx_imported& z) {
    to.output("z", z, 0);
    lamina::scope none;
    const lamina::program_message made = to.finish(none);
    std::string all;
    for (const lamina::operator_message& op : made.blocks[0].operators) {
      if (op.type == "feed" || op.type == "fetch") continue;
      all += (all.empty() ? "" : " ") + op.type;
      if (const lamina::attribute_message* axis = op.attribute("axis"))
        all += " axis " + std::to_string(axis->integer);
    }
    return all + " -> " + std::string(lamina::text().list(made.blocks[0].find("z")->dims));
  }
};

}  // namespace

TEST_CASE("onnx_import_node: a sum repeats Y where Fluid can, and else copies") {
  CHECK(pair_of({-1, 3}, {-1, 3}).sum() == "elementwise_add -> [-1, 3]");
  CHECK(pair_of({-1, 4, 3}, {3}).sum() == "elementwise_add axis 2 -> [-1, 4, 3]");
  CHECK(pair_of({-1, 4, 3}, {4, 1}).sum() == "squeeze2 elementwise_add axis 1 -> [-1, 4, 3]");
  CHECK(pair_of({-1, 4, 3}, {-1, 1, 1}).sum() == "squeeze2 elementwise_add axis 0 -> [-1, 4, 3]");
  CHECK(pair_of({2, 4, 3}, {2, 1, 3}).sum() == "expand elementwise_add -> [2, 4, 3]");
  CHECK(pair_of({4, 1}, {1, 3}).sum() == "expand squeeze2 elementwise_add axis 1 -> [4, 3]");
  CHECK(pair_of({-1, 3}, {-1, 1}).sum() == "squeeze2 elementwise_add axis 0 -> [-1, 3]");
  // Operands of a sum change places, those of a difference do not.
  CHECK(pair_of({}, {5}).sum() == "elementwise_add -> [5]");
  CHECK(pair_of({}, {5}).difference() == "reshape2 expand elementwise_sub -> [5]");
  CHECK_THROWS_WITH(pair_of({2, 3}, {4}).sum(),
                    Contains("node 'sum' of operator Add") && Contains("[2, 3] and [4]"));
}

TEST_CASE("onnx_import_node: what is repeated may be known only at run time") {
  CHECK(pair_of({3}, {-1, 3}, false).difference() ==
        "shape cast expand_v2 elementwise_sub -> [-1, 3]");
  CHECK(pair_of({3}, {-1, 3}, false).sum() == "elementwise_add axis 1 -> [-1, 3]");
  // An unknown dimension may be 1.
  CHECK(pair_of({-1, 3}, {4, 3}).sum() == "expand_v2 elementwise_add -> [4, 3]");
  CHECK(pair_of({-1, 1}, {4, 3}).sum() == "expand_v2 elementwise_add -> [4, 3]");
  CHECK(pair_of({-1, 3}, {-1, 3}, false).sum() ==
        "shape cast expand_v2 shape cast expand_v2 elementwise_add -> [-1, 3]");
}

TEST_CASE("onnx_import_node: symbols have their numbers at run time") {
  pair_of two({-1, -1, 4}, {5, -1});
  const lamina::onnx_imported x = two.node.in(0), y = two.node.in(1);
  CHECK(two.node.list_of({3, 4}).constant != nullptr);
  const lamina::onnx_imported mixed = two.node.list_of({x.dims[1], 7, y.dims[1]});
  CHECK(mixed.constant == nullptr);
  CHECK(mixed.dims == extents{3});
  CHECK(*mixed.extents == extents{x.dims[1], 7, y.dims[1]});
  CHECK(two.node.numbers(mixed, "dimensions") == *mixed.extents);
  CHECK(two.node.scalar_of(x.dims[0]).rank() == 0);
  CHECK(two.node.reshape(x, {x.dims[0], x.dims[1], 2, 2}).dims[1] == x.dims[1]);
  CHECK_THROWS_WITH(two.node.list_of({-1}), Contains("dimensions that are known before a run"));
  CHECK_THROWS_WITH(two.node.numbers(y, "axes"), Contains("axes as a list of known length"));
}

TEST_CASE("onnx_import_node: axes and dimensions that do not exist") {
  pair_of two({2, 3}, {3});
  CHECK(two.node.axis(-1, 2) == 1);
  CHECK_THROWS_WITH(two.node.axis(2, 2), Contains("expected an axis from -2 to 1, found 2"));
  CHECK_THROWS_WITH(two.node.axes_of({0, -2}, 2), Contains("expected axes that differ"));
  CHECK_THROWS_WITH(two.node.squeeze(two.node.in(0), {0}), Contains("extent 1, found 2"));
  CHECK_THROWS_WITH(two.node.matmul(two.node.in(1), two.node.in(0)),
                    Contains("expected matrices that fit"));
  CHECK_THROWS_WITH(two.node.constant(1, "axes"),
                    Contains("expected axes that are known before a run"));
}
