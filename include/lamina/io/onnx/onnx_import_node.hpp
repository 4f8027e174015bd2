// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_import_node.hpp - one node of an ONNX graph during its import, and the
// functions from which its operators are made.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/io/onnx/onnx_import.hpp>
#include <lamina/io/onnx/onnx_model_message.hpp>
#include <lamina/io/onnx/onnx_node_attributes.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A node: its inputs as values, its attributes, and functions that add the operators which compute
/// its outputs.
class onnx_import_node : public onnx_node_attributes {
 public:
  using extents = std::vector<std::int64_t>;

  /// Imports a graph into the current block of the program and returns its outputs.
  using graph_function = std::function<std::vector<onnx_imported>(
      const onnx_graph_message&, const std::vector<onnx_imported>& inputs)>;

  /// `version` is that of the node's domain. `read_tensor` returns the elements of an attribute,
  /// `import_graph` imports the graph of an attribute.
  onnx_import_node(onnx_import& to, const onnx_node_message& message, std::int64_t version,
                   std::vector<onnx_imported> inputs,
                   std::function<tensor(const onnx_tensor_message&)> read_tensor,
                   graph_function import_graph = {})
      : onnx_node_attributes(message, to.file()),
        to_(to),
        version_(version),
        inputs_(std::move(inputs)),
        outputs_(message.outputs.size()),
        read_tensor_(std::move(read_tensor)),
        import_graph_(std::move(import_graph)) {}

  /// Returns the version of the operator set to which the node belongs.
  std::int64_t version() const { return version_; }
  /// Returns the program to which the node belongs, for nodes that add blocks.
  onnx_import& program() { return to_; }
  /// Returns the values of the outputs, for the import.
  std::vector<onnx_imported>& results() { return outputs_; }

  // -- attributes -------------------------------------------------------------------------------

  /// Returns the tensor of an attribute.
  std::optional<tensor> tensor_attribute(std::string_view name) const {
    const onnx_attribute_message* a = message().attribute(name);
    if (a == nullptr || a->tensor == nullptr) return std::nullopt;
    return read_tensor_(*a->tensor);
  }
  /// Imports a graph of an attribute into the current block and returns its outputs.
  std::vector<onnx_imported> import_graph(const onnx_graph_message& graph,
                                          const std::vector<onnx_imported>& inputs) {
    if (graph.inputs.size() != inputs.size())
      fail(text("expected a graph with ")
           << inputs.size() << " inputs, found " << graph.inputs.size());
    return import_graph_(graph, inputs);
  }

  // -- inputs -----------------------------------------------------------------------------------

  std::size_t count() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].has_value(); }
  /// Returns an input; throws format_error if the node omits it.
  const onnx_imported& in(std::size_t i) const {
    if (!has(i))
      fail(text("expected a tensor as input ")
           << i << ", found "
           << (i < inputs_.size() && inputs_[i].sequence != nullptr ? "a sequence" : "none"));
    return inputs_[i];
  }
  /// Returns an input that may be absent.
  onnx_imported optional(std::size_t i) const { return has(i) ? inputs_[i] : onnx_imported(); }
  const std::vector<onnx_imported>& all() const { return inputs_; }
  /// Returns the value of an input that must be constant. `what` names its meaning.
  const tensor& constant(std::size_t i, const char* what) const {
    if (in(i).constant == nullptr)
      fail(text("expected ") << what << " that are known before a run, found input " << i << ", '"
                             << message().inputs[i] << "', which is computed or fed; "
                             << "load_onnx's 'fixed' gives inputs of the model a value");
    return *in(i).constant;
  }
  /// Returns the integers of an input that must be constant.
  extents list(std::size_t i, const char* what) const {
    const auto values = constant(i, what).template cast<std::int64_t>();
    return extents(values.begin(), values.end());
  }
  /// Returns a new symbol for an element of a list.
  std::int64_t symbol_of(const onnx_imported& list, int position, bool not_negative) {
    return to_.symbol({list, position, false}, not_negative);
  }
  /// Returns the elements of a list of integers, with symbols for those that are known only at run
  /// time.
  extents numbers(std::size_t i, const char* what) { return numbers(in(i), what); }
  extents numbers(const onnx_imported& v, const char* what) {
    if (v.extents != nullptr) return *v.extents;
    if (v.constant != nullptr) {
      const auto values = v.constant->template cast<std::int64_t>();
      return extents(values.begin(), values.end());
    }
    if (is_floating(v.type) || v.rank() > 1 || (v.rank() == 1 && v.dims[0] < 0))
      fail(text("expected ") << what << " as a list of known length, found " << name_of(v.type)
                             << " of dimensions " << v.dims_text());
    const std::int64_t count = v.rank() == 0 ? 1 : v.dims[0];
    if (count > 64) fail(text("expected at most 64 ") << what << ", found " << count);
    extents made;
    for (int k = 0; k < static_cast<int>(count); ++k) made.push_back(symbol_of(v, k, false));
    return made;
  }
  /// Returns the integers of an attribute, or of an input since some version of the operator.
  std::optional<extents> list_or(std::string_view attribute, std::size_t i) const {
    if (has_attribute(attribute)) return integers(attribute);
    if (!has(i)) return std::nullopt;
    return list(i, std::string(attribute).c_str());
  }
  /// Returns a dimension that must be known.
  std::int64_t extent(const onnx_imported& value, std::int64_t d) const {
    const std::int64_t found = value.dims[static_cast<std::size_t>(axis(d, value.rank()))];
    if (found < 0)
      fail(text("expected dimension ")
           << d << " to be known before a run, found dimensions " << value.dims_text());
    return found;
  }
  void require_rank(const onnx_imported& value, int least, int most) const {
    if (value.rank() < least || value.rank() > most)
      fail(text("expected an input of ")
           << least << " to " << most << " dimensions, found " << value.dims_text());
  }

  // -- outputs ----------------------------------------------------------------------------------

  /// Whether the node has an output.
  bool wants(std::size_t i) const {
    return i < message().outputs.size() && !message().outputs[i].empty();
  }
  void out(std::size_t i, onnx_imported value) {
    if (i < outputs_.size()) outputs_[i] = std::move(value);
  }
  void out(onnx_imported value) { out(0, std::move(value)); }

  // -- operators --------------------------------------------------------------------------------

  /// Adds an operator with one result.
  onnx_imported make(const char* type, const std::vector<onnx_slot>& inputs,
                     std::vector<onnx_set> attributes, dtype result, extents dims,
                     const char* slot = "Out") {
    return make_all(type, inputs, std::move(attributes), {{slot, result, std::move(dims)}})[0];
  }
  /// Adds an operator with several results.
  std::vector<onnx_imported> make_all(const char* type, const std::vector<onnx_slot>& inputs,
                                      std::vector<onnx_set> attributes,
                                      const std::vector<onnx_result>& results) {
    try {
      return to_.make(type, inputs, std::move(attributes), results, message().offset);
    } catch (const format_error&) {
      throw;
    } catch (const error& e) {
      fail(std::string(e.what()));
    }
  }
  /// Adds an operator of X whose result has the type and the dimensions of X.
  onnx_imported unary(const char* type, const onnx_imported& x,
                      std::vector<onnx_set> attributes = {}) {
    return make(type, {{"X", x}}, std::move(attributes), x.type, x.dims);
  }

  /// Return constants.
  onnx_imported number(double value, dtype type) const {
    if (type == dtype::int64)
      return onnx_import::constant(
          tensor::filled<std::int64_t>({}, number_cast<std::int64_t>(value)));
    return onnx_import::constant(tensor::filled<double>({}, value).cast(type));
  }
  onnx_imported constant_list(const extents& values) const {
    return onnx_import::constant(tensor({values.size()}, values));
  }
  /// Returns equal elements. With dimensions that are known only at run time, they are not a
  /// constant.
  onnx_imported filled(double value, dtype type, const extents& dims) {
    to_.require_size(dims, message().offset);
    if (!is_known(dims)) {
      const onnx_imported one = filled(value, type, extents(dims.size(), 1));
      return make("expand_v2", {{"X", one}, {"Shape", list_of(dims)}}, {}, type, dims);
    }
    const tensor_shape shape(dims.begin(), dims.end());
    if (type == dtype::float32)
      return onnx_import::constant(tensor::filled<float>(shape, static_cast<float>(value)));
    return onnx_import::constant(tensor::filled<double>(shape, value).cast(type));
  }
  /// Throws format_error for a constant that would have too many elements.
  void require_size(const extents& dims) const { to_.require_size(dims, message().offset); }

  static bool is_known(const extents& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n >= 0; });
  }
  /// Returns the dimensions of x as a list during a run.
  onnx_imported shape_of(const onnx_imported& x) {
    return cast(make("shape", {{"Input", x}}, {}, dtype::int32, {(std::max)(1, x.rank())}),
                dtype::int64);
  }
  /// Returns numbers as a list: symbols have their values at run time.
  onnx_imported list_of(const extents& numbers) {
    std::vector<onnx_imported> parts;
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t end = i + 1;
      if (!is_symbol(numbers[i])) {
        if (numbers[i] == unknown_extent)
          fail(text("expected dimensions that are known before a run, found ")
                   .list(without_symbols(numbers)));
        while (end < numbers.size() && numbers[end] >= 0) ++end;
        parts.push_back(constant_list(extents(numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                              numbers.begin() + static_cast<std::ptrdiff_t>(end))));
        i = end;
        continue;
      }
      const onnx_import::symbol_source from = to_.source_of(numbers[i]);
      while (end < numbers.size() && is_symbol(numbers[end])) {
        const onnx_import::symbol_source& next = to_.source_of(numbers[end]);
        if (next.value.variable != from.value.variable || next.is_dimension != from.is_dimension ||
            next.position != from.position + static_cast<int>(end - i))
          break;
        ++end;
      }
      onnx_imported all = from.is_dimension        ? shape_of(from.value)
                          : from.value.rank() == 0 ? reshape(from.value, {1})
                                                   : from.value;
      all = slice(all, 0, from.position, from.position + static_cast<std::int64_t>(end - i));
      parts.push_back(cast(all, dtype::int64));
      i = end;
    }
    if (parts.empty()) return constant_list({});
    onnx_imported made = concat(parts, 0);
    if (made.constant == nullptr) made.extents = std::make_shared<const extents>(numbers);
    return made;
  }
  /// Returns a number as a scalar.
  onnx_imported scalar_of(std::int64_t number_or_symbol) {
    if (number_or_symbol >= 0) return number(static_cast<double>(number_or_symbol), dtype::int64);
    onnx_imported made = list_of({number_or_symbol});
    made.dims.clear();  // the program gives a scalar the dimensions [1], too
    return made;
  }
  /// Returns the number of elements along a dimension of x as a scalar.
  onnx_imported extent_of(const onnx_imported& x, std::int64_t d) {
    const std::int64_t found = x.dims[static_cast<std::size_t>(d)];
    if (found != unknown_extent) return scalar_of(found);
    return squeeze(slice(shape_of(x), 0, d, d + 1), {0});
  }

  onnx_imported cast(const onnx_imported& x, dtype type) {
    if (x.type == type) return x;
    onnx_imported made =
        make("cast", {{"X", x}},
             {{"in_dtype", static_cast<int>(x.type)}, {"out_dtype", static_cast<int>(type)}}, type,
             x.dims);
    if (type == dtype::int64 || type == dtype::int32) made.extents = x.extents;
    return made;
  }

  /// Returns x with other dimensions and the same elements. `shape` is as for ONNX's Reshape: 0
  /// copies a dimension, -1 is inferred; without it, it follows from the dimensions.
  onnx_imported reshape(const onnx_imported& x, const extents& dims, extents shape = {}) {
    if (dims == x.dims) return x;
    if (x.constant == nullptr && x.is_static() && is_known(dims) &&
        size_of_dims(dims) != size_of_dims(x.dims))
      fail(text("expected the elements of dimensions ")
           << x.dims_text() << ", found dimensions " << text().list(dims));
    if (x.constant != nullptr && is_known(dims)) {
      const tensor_shape to(dims.begin(), dims.end());
      if (size_of(to) != x.constant->size())
        fail(text("expected ") << x.constant->size() << " elements, found dimensions "
                               << text().list(dims));
      return onnx_import::constant(onnx_import::with_shape(*x.constant, to));
    }
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return filled(0, x.type, dims);
    std::vector<onnx_slot> inputs{{"X", x}};
    if (shape.empty()) {
      shape = dims;
      // A dimension that x has at the same place is copied, and one other is inferred.
      for (std::size_t d = 0; d < shape.size() && d < x.dims.size(); ++d)
        if (shape[d] < 0 && shape[d] == x.dims[d]) shape[d] = 0;
      if (std::count_if(shape.begin(), shape.end(), [](std::int64_t d) { return d < 0; }) > 1)
        inputs.emplace_back("Shape", list_of(dims));
    }
    shape = without_symbols(shape);
    if (shape.empty()) shape.push_back(1);
    return make("reshape2", inputs, {{"shape", shape}}, x.type, dims);
  }
  /// Returns x with further dimensions of extent 1, at these places of the result.
  onnx_imported unsqueeze(const onnx_imported& x, extents axes) {
    axes = axes_of(axes, x.rank() + static_cast<int>(axes.size()));
    extents dims = x.dims;
    for (const std::int64_t a : axes) dims.insert(dims.begin() + a, 1);
    return reshape_by("unsqueeze2", x, axes, dims);
  }
  /// Returns x without these dimensions of extent 1.
  onnx_imported squeeze(const onnx_imported& x, extents axes) {
    axes = axes_of(axes, x.rank());
    extents dims;
    for (int d = 0; d < x.rank(); ++d) {
      const std::int64_t found = x.dims[static_cast<std::size_t>(d)];
      if (!std::binary_search(axes.begin(), axes.end(), d))
        dims.push_back(found);
      else if (found > 1 || found == 0)
        fail(text("expected dimension ") << d << " to have the extent 1, found " << found);
    }
    return reshape_by("squeeze2", x, axes, dims);
  }
  onnx_imported transpose(const onnx_imported& x, const extents& order) {
    extents dims, same(order.size());
    std::iota(same.begin(), same.end(), 0);
    if (order == same) return x;
    for (const std::int64_t d : order) dims.push_back(x.dims[static_cast<std::size_t>(d)]);
    return make("transpose2", {{"X", x}}, {{"axis", order}}, x.type, dims);
  }

  /// Returns x repeated to `dims`, whose last dimensions are those of x or where x has the
  /// extent 1.
  onnx_imported broadcast_to(onnx_imported x, const extents& dims) {
    if (x.dims == dims) return x;
    if (x.dims.size() > dims.size())
      fail(text("expected a value that is broadcast to dimensions ").list(without_symbols(dims))
           << ", found dimensions " << x.dims_text());
    const std::size_t more = dims.size() - x.dims.size();
    if (more > 0) {
      extents front(more);
      std::iota(front.begin(), front.end(), 0);
      x = unsqueeze(x, front);
    }
    extents times(dims.size(), 1);
    bool repeats = false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (x.dims[d] == dims[d]) continue;
      if (x.dims[d] < 0 || dims[d] < 0) {
        // A dimension that x keeps needs no number.
        extents wanted = dims;
        for (std::size_t k = 0; k < dims.size(); ++k)
          if (dims[k] < 0 && dims[k] == x.dims[k]) wanted[k] = 1;
        return make("expand_v2", {{"X", x}, {"Shape", list_of(wanted)}}, {}, x.type, dims);
      }
      if (x.dims[d] > 1)
        fail(text("expected a value that is broadcast to dimensions ").list(without_symbols(dims))
             << ", found dimensions " << x.dims_text());
      times[d] = dims[d];
      repeats = true;
    }
    if (!repeats) return x;
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return filled(0, x.type, dims);
    return make("expand", {{"X", x}}, {{"expand_times", times}}, x.type, dims);
  }
  /// Returns the dimensions to which both values are broadcast, by NumPy's rule.
  extents broadcast_dims(const extents& a, const extents& b) const {
    extents dims((std::max)(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1,
                         of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
      if (of_a != of_b && of_a > 1 && of_b > 1)
        fail(text("expected dimensions that can be broadcast, found ")
             << text().list(a) << " and " << text().list(b));
      // Two that are not known may differ, and one of them be 1.
      dims[dims.size() - 1 - i] = of_a == 1 || of_a == of_b ? of_b
                                  : of_b == 1               ? of_a
                                  : of_a < 0 && of_b < 0    ? unknown_extent
                                                            : (std::max)(of_a, of_b);
      if (of_a == 0 || of_b == 0) dims[dims.size() - 1 - i] = 0;
    }
    return dims;
  }

  /// Adds an operator of X and Y with NumPy's broadcasting. Fluid's operators repeat only Y, along
  /// dimensions before and after those that it has in common with X.
  onnx_imported binary(const char* type, onnx_imported x, onnx_imported y, dtype result) {
    const extents dims = broadcast_dims(x.dims, y.dims);
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return filled(0, result, dims);
    // Only Y is repeated, so the larger operand becomes X where the order has no meaning.
    if (y.dims == dims && (x.dims.size() < dims.size() || (x.dims != dims && has_unit_dims(x)))) {
      const std::string_view name = type;
      const bool is_single = x.constant != nullptr && x.constant->size() == 1;
      if (name == "elementwise_add" || name == "elementwise_mul") {
        std::swap(x, y);
      } else if (is_single && name == "elementwise_sub" && is_floating(y.type)) {
        y = negative(y);
        std::swap(x, y);
        type = "elementwise_add";
      } else if (is_single && name == "elementwise_div" && is_floating(y.type) &&
                 x.constant->cast<double>().flat(0) == 1) {
        return unary("reciprocal", y);
      }
    }
    const onnx_imported given = x;
    x = filled_to(x, y, dims);
    std::vector<onnx_set> attributes;
    const std::size_t more = dims.size() - y.dims.size();
    bool is_open = false;  // whether a dimension of y is 1 in some runs only
    for (std::size_t d = 0; d < y.dims.size(); ++d)
      is_open =
          is_open || (y.dims[d] != 1 && y.dims[d] != dims[more + d]) || y.dims[d] == unknown_extent;
    if (is_open) y = filled_to(y, given, dims);
    if (!is_open && y.rank() > 0 && y.dims != dims) {
      std::size_t first = y.dims.size(), last = 0;
      for (std::size_t d = 0; d < y.dims.size(); ++d)
        if (y.dims[d] != 1) {
          first = (std::min)(first, d);
          last = d;
        }
      bool whole = true;
      for (std::size_t d = first; d <= last && d < y.dims.size(); ++d)
        whole = whole && (y.dims[d] != 1 || dims[more + d] == 1);
      if (first == y.dims.size()) {
        y = reshape(y, {1}, {1});
      } else if (!whole) {
        y = filled_to(y, x, dims);
      } else {
        // A computed operand keeps the extent 1 of a batch, so that it still has rows.
        while (y.constant == nullptr && first > 0 && dims[more + first - 1] == 1) --first;
        extents drop;
        for (std::size_t d = 0; d < y.dims.size(); ++d)
          if (d < first || d > last) drop.push_back(static_cast<std::int64_t>(d));
        if (!drop.empty()) y = squeeze(y, drop);
        attributes.emplace_back("axis", static_cast<int>(more + first));
      }
    }
    return make(type, {{"X", x}, {"Y", y}}, std::move(attributes), result, dims);
  }
  onnx_imported binary(const char* type, const onnx_imported& x, const onnx_imported& y) {
    return binary(type, x, y, x.type);
  }
  /// Returns the second operand of an arithmetic node. Until version 7, attributes state whether
  /// and from which axis of X it is broadcast.
  onnx_imported second_operand() {
    const onnx_imported& x = in(0);
    const onnx_imported& y = in(1);
    if (version_ >= 7 || !flag("broadcast") || !has_attribute("axis") || y.rank() == 0) return y;
    extents after;
    for (std::int64_t d = axis(integer("axis"), x.rank()) + y.rank(); d < x.rank(); ++d)
      after.push_back(static_cast<std::int64_t>(after.size()) + y.rank());
    return unsqueeze(y, after);
  }
  onnx_imported add(const onnx_imported& x, const onnx_imported& y) {
    return binary("elementwise_add", x, y);
  }
  onnx_imported sub(const onnx_imported& x, const onnx_imported& y) {
    return binary("elementwise_sub", x, y);
  }
  onnx_imported mul(const onnx_imported& x, const onnx_imported& y) {
    return binary("elementwise_mul", x, y);
  }
  onnx_imported div(const onnx_imported& x, const onnx_imported& y) {
    return binary("elementwise_div", x, y);
  }
  /// Returns factor * x + bias for floating numbers.
  onnx_imported affine(const onnx_imported& x, double factor, double bias) {
    if (factor == 1 && bias == 0) return x;
    if (x.type == dtype::float32 && double(float(factor)) == factor && double(float(bias)) == bias)
      return unary("scale", x, {{"scale", factor}, {"bias", bias}});
    onnx_imported y = factor == 1 ? x : mul(x, number(factor, x.type));
    return bias == 0 ? y : add(y, number(bias, x.type));
  }
  /// Returns -x.
  onnx_imported negative(const onnx_imported& x) {
    return is_floating(x.type) ? unary("scale", x, {{"scale", -1.0}})
                               : sub(broadcast_to(number(0, x.type), x.dims), x);
  }

  /// Returns x where the mask is true, and y elsewhere. No arithmetic touches an element that is
  /// not chosen, so NaN and infinity do not spread.
  onnx_imported where(const onnx_imported& mask, onnx_imported x, onnx_imported y) {
    const dtype type = x.type;
    if (type == dtype::boolean) {
      const onnx_imported chosen = binary("logical_and", full(mask, x), full(x, mask));
      const onnx_imported no = unary("logical_not", mask);
      return binary("logical_or", full(chosen, y),
                    full(binary("logical_and", full(no, y), full(y, no)), chosen));
    }
    const onnx_imported of_x = kept(full(x, mask), mask),
                        of_y = kept(full(y, mask), unary("logical_not", mask));
    return binary("elementwise_add", of_x, of_y);
  }
  /// Returns x where the mask is true, and 0 elsewhere.
  onnx_imported kept(const onnx_imported& x, const onnx_imported& mask) {
    return binary("elementwise_keep", x, mask, x.type);
  }
  /// Returns x, repeated to the dimensions that it has together with y.
  onnx_imported full(const onnx_imported& x, const onnx_imported& y) {
    return filled_to(x, y, broadcast_dims(x.dims, y.dims));
  }

  /// Adds a reduction over dimensions.
  onnx_imported reduce(const char* type, const onnx_imported& x, extents axes, bool keep) {
    if (x.rank() == 0) return x;
    axes = axes_of(axes, x.rank());
    if (axes.empty()) return x;
    extents dims;
    for (int d = 0; d < x.rank(); ++d) {
      if (!std::binary_search(axes.begin(), axes.end(), d))
        dims.push_back(x.dims[static_cast<std::size_t>(d)]);
      else if (keep)
        dims.push_back(1);
    }
    const bool whole = static_cast<int>(axes.size()) == x.rank();
    return make(type, {{"X", x}}, {{"dim", axes}, {"keep_dim", keep}, {"reduce_all", whole}},
                x.type, dims);
  }
  /// Returns the numbers from 0 to n - 1 in dimension `axis` of `rank` dimensions. `n` may be a
  /// symbol.
  onnx_imported positions(std::int64_t n, int rank, std::int64_t axis) {
    extents dims(static_cast<std::size_t>(rank), 1);
    if (is_symbol(n)) {
      const dtype type = dtype::int64;
      const onnx_imported list = make(
          "range", {{"Start", number(0, type)}, {"End", scalar_of(n)}, {"Step", number(1, type)}},
          {}, type, {n});
      dims[static_cast<std::size_t>(axis)] = n;
      return reshape(list, dims);
    }
    if (n < 0) fail(text("expected a number of elements, found ") << n);
    require_size({n});
    extents values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    dims[static_cast<std::size_t>(axis)] = n;
    return onnx_import::constant(tensor(tensor_shape(dims.begin(), dims.end()), values));
  }
  /// Returns the entries of x along an axis that `index` numbers. The dimensions of `index` replace
  /// the axis.
  onnx_imported gather(const onnx_imported& x, const onnx_imported& index, std::int64_t axis) {
    const onnx_imported front = transpose(x, moved(x.rank(), axis, 0));
    std::int64_t n = 1;
    for (const std::int64_t d : index.dims) n = d < 0 || n < 0 ? -1 : n * d;
    extents flat = front.dims;
    flat[0] = index.rank() == 1 ? index.dims[0] : n;
    const onnx_imported list = index.rank() == 1 ? index : reshape(index, {n}, {-1});
    const onnx_imported rows = make("gather", {{"X", front}, {"Index", list}}, {}, x.type, flat);
    extents dims = index.dims;
    dims.insert(dims.end(), front.dims.begin() + 1, front.dims.end());
    const onnx_imported wide = index.rank() == 1 ? rows : reshape(rows, dims);
    // The dimensions of the index return to the place of the axis.
    extents order;
    const std::int64_t k = index.rank();
    for (std::int64_t d = 0; d < axis; ++d) order.push_back(k + d);
    for (std::int64_t d = 0; d < k; ++d) order.push_back(d);
    for (std::int64_t d = axis + 1; d < x.rank(); ++d) order.push_back(k + d - 1);
    return transpose(wide, order);
  }
  /// Returns indices of which negative ones count from the end, as indices from 0 to n - 1. `n` may
  /// be a symbol.
  onnx_imported from_front(const onnx_imported& index, std::int64_t n) {
    if (index.constant != nullptr && n < 0) {
      const auto all = index.constant->template cast<std::int64_t>();
      if (std::all_of(all.begin(), all.end(), [](std::int64_t k) { return k >= 0; })) return index;
    }
    const onnx_imported wide = cast(index, dtype::int64);
    const onnx_imported below = binary("less_than", wide, number(0, dtype::int64), dtype::boolean);
    return add(wide, mul(cast(below, dtype::int64), scalar_of(n)));
  }
  /// Returns the elements [first, end) along an axis; with an unknown end, all but the last `cut`.
  onnx_imported slice(const onnx_imported& x, std::int64_t axis, std::int64_t first,
                      std::int64_t end, std::int64_t cut = 0) {
    extents dims = x.dims;
    std::int64_t& d = dims[static_cast<std::size_t>(axis)];
    if (first == 0 && end == d && cut == 0) return x;
    d = end < 0 ? -1 : std::max<std::int64_t>(0, end - first);
    return make("slice", {{"Input", x}},
                {{"axes", extents{axis}},
                 {"starts", extents{first}},
                 {"ends", extents{end >= 0  ? end
                                  : cut > 0 ? -cut
                                            : 0x7fffffff}}},
                x.type, dims);
  }
  onnx_imported concat(const std::vector<onnx_imported>& all, std::int64_t axis) {
    if (all.size() == 1) return all[0];
    extents dims = all[0].dims;
    std::int64_t& d = dims[static_cast<std::size_t>(axis)];
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::int64_t more = all[i].dims[static_cast<std::size_t>(axis)];
      d = d < 0 || more < 0 ? -1 : d + more;
    }
    return make("concat", {{"X", all}}, {{"axis", static_cast<int>(axis)}}, all[0].type, dims);
  }
  /// Returns x with `before` and `after` elements of a value around each dimension; negative
  /// numbers remove elements.
  onnx_imported pad(onnx_imported x, const extents& before, const extents& after, double value) {
    extents paddings, dims = x.dims;
    bool any = false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t low = before[d], high = after[d];
      if (low < 0 || high < 0) {
        const std::int64_t cut = std::max<std::int64_t>(0, -high), n = dims[d];
        x = slice(x, static_cast<std::int64_t>(d), std::max<std::int64_t>(0, -low),
                  n < 0 ? unknown_extent : n - cut, cut);
        dims[d] = x.dims[d];
      }
      paddings.push_back(std::max<std::int64_t>(0, low));
      paddings.push_back(std::max<std::int64_t>(0, high));
      const std::int64_t more = paddings.back() + paddings[paddings.size() - 2];
      if (more == 0) continue;
      any = true;
      dims[d] = dims[d] < 0 ? unknown_extent : dims[d] + more;
    }
    if (!any) return x;
    return make("pad", {{"X", x}}, {{"paddings", paddings}, {"pad_value", value}}, x.type, dims);
  }
  /// Returns the product of matrices in the last two dimensions, with NumPy's broadcasting of the
  /// others.
  onnx_imported matmul(onnx_imported x, onnx_imported y, bool turn_x = false, bool turn_y = false) {
    if (x.rank() == 0 || y.rank() == 0) fail("expected matrices, found a scalar");
    const auto outer = [](const onnx_imported& v) {
      return extents(v.dims.begin(), v.dims.end() - (std::min)(2, v.rank()));
    };
    const extents batch = broadcast_dims(outer(x), outer(y));
    const bool is_open = std::find(batch.begin(), batch.end(), unknown_extent) != batch.end();
    const auto whole = [&](const onnx_imported& v, const onnx_imported& other) {
      extents dims = batch;
      dims.insert(dims.end(), v.dims.end() - 2, v.dims.end());
      if (!is_open) return broadcast_to(v, dims);
      const onnx_imported shape =
          concat({slice(shape_of(other), 0, 0, other.rank() - 2), constant_list({1, 1})}, 0);
      return make("expand_v2", {{"X", v}, {"Shape", shape}}, {}, v.type, dims);
    };
    // One matrix serves all products of the other side.
    if (x.rank() > 2 && y.rank() > 2) {
      const onnx_imported given = x;
      x = whole(x, y);
      y = whole(y, given);
    }
    const auto last = [](const onnx_imported& v, bool row) {
      return v.dims[v.dims.size() - (row ? 2 : 1)];
    };
    extents dims = batch;
    if (x.rank() > 1) dims.push_back(last(x, !turn_x));
    if (y.rank() > 1) dims.push_back(last(y, turn_y));
    const std::int64_t in_x = x.rank() == 1 ? x.dims[0] : last(x, turn_x),
                       in_y = y.rank() == 1 ? y.dims[0] : last(y, !turn_y);
    if (in_x >= 0 && in_y >= 0 && in_x != in_y)
      fail(text("expected matrices that fit, found dimensions ")
           << x.dims_text() << " and " << y.dims_text());
    if (std::find(dims.begin(), dims.end(), 0) != dims.end() || in_x == 0)
      return filled(0, x.type, dims);
    const dtype type = x.type;
    if (!is_floating(type)) {  // exact in double up to 2^53
      x = cast(x, dtype::float64);
      y = cast(y, dtype::float64);
    }
    return cast(make("matmul", {{"X", x}, {"Y", y}},
                     {{"transpose_X", turn_x}, {"transpose_Y", turn_y}}, x.type, dims),
                type);
  }

 private:
  static bool has_unit_dims(const onnx_imported& x) {
    return std::find(x.dims.begin(), x.dims.end(), 1) != x.dims.end();
  }
  onnx_imported reshape_by(const char* type, const onnx_imported& x, const extents& axes,
                           const extents& dims) {
    if (axes.empty()) return x;
    onnx_imported made;
    if (x.constant != nullptr || x.rank() == 0 || dims.empty())
      made = reshape(x, dims, dims.empty() ? extents{1} : extents());
    else
      made = make(type, {{"X", x}}, {{"axes", axes}}, x.type, dims);
    if (x.constant == nullptr) made.extents = x.extents;
    return made;
  }
  // Returns x with all elements of `dims`, to which x and y are broadcast.
  onnx_imported filled_to(const onnx_imported& x, const onnx_imported& y, const extents& dims) {
    if (x.dims == dims && std::find(dims.begin(), dims.end(), unknown_extent) == dims.end())
      return x;
    const std::size_t more = dims.size() - x.dims.size();
    bool by_y = false;  // whether only the shape of y tells how often x is repeated
    for (std::size_t d = 0; d < dims.size(); ++d)
      by_y = by_y || (dims[d] < 0 &&
                      (d < more || x.dims[d - more] != dims[d] || dims[d] == unknown_extent));
    if (!by_y) return broadcast_to(x, dims);
    return make("expand_v2", {{"X", x}, {"Shape", shape_of(y)}}, {}, x.type, dims);
  }

  onnx_import& to_;
  std::int64_t version_;
  std::vector<onnx_imported> inputs_, outputs_;
  std::function<tensor(const onnx_tensor_message&)> read_tensor_;
  graph_function import_graph_;
};

/// Adds the operators of one node to a program.
using onnx_raising = std::function<void(onnx_import_node&)>;

}}  // namespace lamina
