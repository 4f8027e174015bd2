// SPDX-License-Identifier: Apache-2.0
// safetensors: headers that contradict themselves, types that are widened, other names and layouts,
// several files.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::named_tensors;
using lamina::tensor;

namespace {

bool same(const tensor& a, const tensor& b) {
  const std::size_t element = static_cast<std::size_t>(size_of(a.type()));
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * element) == 0);
}

bool same(const named_tensors& a, const named_tensors& b) {
  bool all = a.size() == b.size();
  for (const auto& [name, value] : a) all = all && b.count(name) == 1 && same(value, b.at(name));
  return all;
}

named_tensors two() {
  return {{"w", tensor({2, 3}, std::vector<float>{1, -2, 3, 0.5f, 0, 9})},
          {"v", tensor({1, 2}, std::vector<float>{4, 5})}};
}

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::fc<4>(layer::fc<3>(x, {.name = "body.0"}), {.bias = false, .name = "head"});
});
using net_model = lamina::model<std::remove_const_t<decltype(net)>>;
constexpr auto wide_net = lamina::program([](lamina::block& main) {
  return layer::fc<1>(layer::data<"x", double, 2>(main), {.bias = false, .name = "w"});
});

/// The bytes of a file with one value.
std::string file_of(const std::string& type, const std::string& shape, const std::string& data,
                    const std::string& name = "w") {
  const std::string header = "{\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
                             ",\"data_offsets\":[0," + std::to_string(data.size()) + "]}}";
  std::string size(8, '\0');
  size[0] = static_cast<char>(header.size());
  return size + header + data;
}
std::span<const std::byte> bytes_of(const std::string& file) {
  return {reinterpret_cast<const std::byte*>(file.data()), file.size()};
}
template <class T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

tensor ramp(lamina::tensor_shape shape, float first) {
  std::vector<float> all(lamina::size_of(shape));
  for (float& x : all) x = first++;
  return tensor(shape, all);
}

/// What PyTorch saves of the net: other names, weights as [outputs, inputs].
named_tensors torch_values() {
  return {{"body.0.weight", ramp({3, 4}, 1)},
          {"body.0.bias", ramp({3}, 100)},
          {"head.weight", ramp({4, 3}, 20)},
          {"head.num_batches_tracked", tensor({1}, std::vector<std::int64_t>{5})}};
}
void is_torch(const net_model& m) {
  const auto w = m.parameter<"body.0.w_0">(), v = m.parameter<"head.w_0">();
  for (std::size_t in = 0; in < 4; ++in)
    for (std::size_t out = 0; out < 3; ++out)
      CHECK(w.data()[in * 3 + out] == static_cast<float>(1 + out * 4 + in));
  for (std::size_t in = 0; in < 3; ++in)
    for (std::size_t out = 0; out < 4; ++out)
      CHECK(v.data()[in * 4 + out] == static_cast<float>(20 + out * 3 + in));
  CHECK(m.parameter<"body.0.b_0">().data()[2] == 102);
}

}  // namespace

// Sources: tinygrad/tinygrad#3310, huggingface/sentence-transformers#3528.
TEST_CASE("safetensors: small floats and unsigned integers are widened") {
  const auto read = [](const std::string& type, const std::string& data, int n) {
    return lamina::load_safetensors(bytes_of(file_of(type, "[" + std::to_string(n) + "]", data)))
        .at("w");
  };
  const float inf = std::numeric_limits<float>::infinity();
  using floats = std::vector<float>;
  CHECK(same(read("F16", raw<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7c00, 0x8000}), 5),
             tensor({5}, floats{1, -2, 0x1p-24f, inf, -0.f})));
  CHECK(same(read("BF16", raw<std::uint16_t>({0x3f80, 0xc000, 0xff80}), 3),
             tensor({3}, floats{1, -2, -inf})));
  CHECK(same(read("F8_E4M3", "\x38\xfe\x01", 3), tensor({3}, floats{1, -448, 0x1p-9f})));
  CHECK(same(read("F8_E5M2", "\x3c\xfb\x7c", 3), tensor({3}, floats{1, -57344, inf})));
  CHECK(same(read("F8_E4M3FNUZ", "\x40\x41", 2), tensor({2}, floats{1, 1.125f})));
  CHECK(same(read("F8_E5M2FNUZ", "\x40\x41", 2), tensor({2}, floats{1, 1.25f})));
  CHECK(same(read("F8_E8M0", "\x7f\x80", 2), tensor({2}, floats{1, 2})));
  CHECK(same(read("U16", raw<std::uint16_t>({65535, 1}), 2),
             tensor({2}, std::vector<std::int32_t>{65535, 1})));
  CHECK(same(read("U32", raw<std::uint32_t>({4294967295U}), 1),
             tensor({1}, std::vector<std::int64_t>{4294967295})));
  CHECK(same(read("U64", raw<std::uint64_t>({1ULL << 62}), 1),
             tensor({1}, std::vector<std::int64_t>{1LL << 62})));
  // More elements than are converted at a time.
  const std::vector<std::uint16_t> many(10001, 0x3c00);
  CHECK(same(read("F16", raw(many), 10001), tensor({10001}, floats(10001, 1.f))));
  CHECK(read("BF16", "", 0).size() == 0);
}

TEST_CASE("safetensors: parameters get numbers of their own type, if none is rounded") {
  lamina::model wide{wide_net, 1};
  const auto into = [&](const std::string& type, const std::string& data) {
    const std::string file = file_of(type, "[2,1]", data, "w.w_0");
    load_safetensors(bytes_of(file), wide);
    const auto w = wide.parameter<"w.w_0">();
    return std::pair<double, double>(w.data()[0], w.data()[1]);
  };
  const std::pair<double, double> two{1, -2};
  CHECK(into("F64", raw<double>({1, -2})) == two);
  CHECK(into("F32", raw<float>({1, -2})) == two);
  CHECK(into("F16", raw<std::uint16_t>({0x3c00, 0xc000})) == two);
  CHECK(into("I32", raw<std::int32_t>({1, -2})) == two);
  CHECK(into("U32", raw<std::uint32_t>({1, 4294967295U})).second == 4294967295.);
  CHECK_THROWS_WITH(into("I64", raw<std::int64_t>({1, 2})),
                    Contains("expected float64 [2, 1] for the parameter 'w.w_0', found int64"));
  CHECK_THROWS_WITH(into("U64", raw<std::uint64_t>({1, 2})), Contains("found U64 [2, 1]"));
  CHECK_THROWS_WITH(into("BOOL", std::string(2, '\1')), Contains("found bool [2, 1]"));
  CHECK_THROWS_WITH(into("C64", std::string(16, '\1')), Contains("found C64 [2, 1]"));

  net_model narrow{net, 1};
  const auto refused = [&](const std::string& type, std::size_t size) {
    CHECK_THROWS_WITH(
        load_safetensors(bytes_of(file_of(type, "[3]", std::string(3 * size, '\0'), "body.0.b_0")),
                         narrow, {.skip_missing = true}),
        Contains("expected float32 [3] for the parameter 'body.0.b_0'"));
  };
  refused("F64", 8);
  refused("I32", 4);
  refused("U32", 4);
  load_safetensors(bytes_of(file_of("I16", "[3]", raw<std::int16_t>({-3, 2, 1}), "body.0.b_0")),
                   narrow, {.skip_missing = true});
  CHECK(narrow.parameter<"body.0.b_0">().data()[0] == -3);
}

// Source: cryscan/web-rwkv#61.
TEST_CASE("safetensors: elements at any address") {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string file = file_of("F32", "[3]", raw<float>({1, 2, 3}), "body.0.b_0");
    file.insert(8 + static_cast<std::size_t>(file[0]), shift, ' ');
    file[0] = static_cast<char>(static_cast<std::size_t>(file[0]) + shift);
    net_model m{net, 1};
    load_safetensors(bytes_of(file), m, {.skip_missing = true});
    CHECK(m.parameter<"body.0.b_0">().data()[2] == 3);
    CHECK(lamina::load_safetensors(bytes_of(file)).at("body.0.b_0").as<float>()(1) == 2);
  }
}

// Sources: safetensors/safetensors#524, tracel-ai/burn#4043.
TEST_CASE("safetensors: names and layouts of PyTorch") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  lamina::save_safetensors(path, torch_values());
  net_model m{net, 1};
  const lamina::load_report report = load_safetensors(path, m, lamina::torch_state_dict());
  is_torch(m);
  CHECK(report.complete());
  CHECK(report.loaded == std::vector<std::string>{"body.0.w_0", "body.0.b_0", "head.w_0"});
  CHECK(report.surplus.empty());  // counters are left out

  // The same by hand.
  net_model by_hand{net, 1};
  const lamina::load_report r = load_safetensors(path, by_hand,
                                                 {.names = {{"body.0.weight", "body.0.w_0"},
                                                            {"body.0.bias", "body.0.b_0"},
                                                            {"head.weight", "head.w_0"}},
                                                  .transpose = {"body.0.w_0", "head.w_0"}});
  is_torch(by_hand);
  CHECK(r.surplus == std::vector<std::string>{"head.num_batches_tracked"});
  CHECK(r.text() ==
        "3 loaded: body.0.w_0, body.0.b_0, head.w_0\n"
        "1 not in the model: head.num_batches_tracked\n");

  // Prefixes of DataParallel and torch.compile.
  named_tensors wrapped;
  for (const auto& [name, value] : torch_values())
    wrapped.emplace("module._orig_mod." + name, value);
  lamina::save_safetensors(path, wrapped);
  net_model again{net, 1};
  load_safetensors(path, again, lamina::torch_state_dict());
  is_torch(again);
  CHECK(lamina::load_safetensors(path, lamina::torch_names()).contains("body.0.w_0"));
  lamina::scope variables;
  lamina::load_safetensors(path, variables, lamina::rename_prefix("module.", ""));
  CHECK(variables.get("_orig_mod.head.weight").shape() == lamina::tensor_shape{4, 3});
}

TEST_CASE("safetensors: a wrong mapping is one error that says what does not fit") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  lamina::save_safetensors(path, torch_values());
  net_model m{net, 1};
  const auto before = lamina::tensors_of(m);
  const auto refused = [&](const lamina::safetensors_options& options, const std::string& why) {
    CHECK_THROWS_WITH(load_safetensors(path, m, options), Contains(path) && Contains(why));
    CHECK(same(lamina::tensors_of(m), before));
  };
  refused({},
          "expected the parameter 'body.0.w_0', found 4 others; no parameter has the name of 4 "
          "of them (body.0.bias, body.0.weight, head.num_batches_tracked, head.weight); 3 "
          "parameters are missing (body.0.w_0, body.0.b_0, head.w_0)");
  refused({.skip_missing = true}, "expected the parameter 'body.0.w_0'");  // nothing fits
  refused({.names = lamina::torch_names()},
          "expected float32 [4, 3] for the parameter 'body.0.w_0', found float32 [3, 4]: set the "
          "option transpose or outputs_first; 2 parameters have another shape or type");
  refused({.names = lamina::torch_names(), .transpose = {"body.0.w_0", "body.0.b_0"}},
          "expected names of parameters that are matrices in the option transpose, found "
          "'body.0.b_0'");
  refused({.names = lamina::torch_names(), .transpose = {"x"}}, "found 'x'");
  refused({.names = [](std::string_view) { return "head.w_0"; }},
          "expected one value per parameter, found '");
  CHECK_THROWS_WITH(lamina::load_safetensors(path, [](std::string_view) { return "w"; }),
                    Contains("expected one value per name, found two for 'w'"));

  const lamina::load_report report =
      load_safetensors(path, m, {.names = lamina::torch_names(), .skip_other_shapes = true});
  CHECK(report.loaded == std::vector<std::string>{"body.0.b_0"});
  CHECK(report.other_shapes.size() == 2);
  CHECK_FALSE(report.complete());
  CHECK(same(lamina::tensors_of(m).at("head.w_0"), before.at("head.w_0")));
}

// Sources: UOR-Foundation/uor-r4#634, llama.cpp's and vLLM's readers of indices.
TEST_CASE("safetensors: a checkpoint in several files") {
  const temporary_folder folder;
  const std::string index = folder.path() + "/model.safetensors.index.json";
  named_tensors all = torch_values(), first, second;
  first.emplace("body.0.weight", all.at("body.0.weight"));
  first.emplace("head.weight", ramp({4, 3}, -1));  // not the one of the index
  second.emplace("body.0.bias", all.at("body.0.bias"));
  second.emplace("head.weight", all.at("head.weight"));
  lamina::save_safetensors(folder.path() + "/model-00001-of-00002.safetensors", first);
  lamina::save_safetensors(folder.path() + "/model-00002-of-00002.safetensors", second);
  const auto write = [&](const std::string& map) {
    lamina::write_file(index, "{\"metadata\":{\"total_size\":108},\"weight_map\":{" + map + "}}");
  };
  const std::string good =
      "\"body.0.weight\":\"model-00001-of-00002.safetensors\","
      "\"body.0.bias\":\"model-00002-of-00002.safetensors\","
      "\"head.weight\":\"model-00002-of-00002.safetensors\"";
  write(good);
  net_model m{net, 1};
  CHECK(load_safetensors(index, m, lamina::torch_state_dict()).loaded.size() == 3);
  is_torch(m);
  CHECK(lamina::load_safetensors(index).size() == 3);
  const auto refused = [&](const std::string& map, const std::string& why) {
    write(map);
    CHECK_THROWS_WITH(lamina::load_safetensors(index), Contains(why));
  };
  refused(good + ",\"more\":\"model-00001-of-00002.safetensors\"",
          "expected 'more' in the file model-00001-of-00002.safetensors, found 2 others");
  refused("\"a\":\"absent.safetensors\"", "/absent.safetensors: cannot be opened");
  for (const char* file : {"../x", "/etc/passwd", "", "..", "a/b"})
    refused("\"a\":\"" + std::string(file) + "\"",
            "expected the name of a file in the folder of the index for 'a', found '" +
                std::string(file) + "'");
  refused("\"a\":\"..\\\\x\"", "in the folder of the index for 'a', found '..\\x'");
  refused("\"a\":7", "expected the name of a file in the folder of the index for 'a'");
  refused(good + "," + good, "expected each name once in the header, found 'body.0.weight' twice");
  lamina::write_file(index, "{\"weight_map\":[]}");
  CHECK_THROWS_WITH(lamina::load_safetensors(index), Contains("expected the object weight_map"));
  lamina::write_file(index, "\xff");
  CHECK_THROWS_AS(lamina::load_safetensors(index), lamina::format_error);
}

TEST_CASE("safetensors: headers that contradict themselves") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  const auto with = [&](const std::string& header, const std::string& data) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    lamina::write_file(path, bytes + header + data);
  };
  const std::string w = "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}";
  with("{\"__metadata__\":{\"format\":\"pt\"}," + w + "}  ", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  // Source: safetensors/safetensors#823.
  with("{\"__metadata__\":null," + w + "}", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  with("{" + w.substr(0, w.size() - 1) + ",\"note\":\"further\"}}", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  const auto refused = [&](const std::string& header, const std::string& data,
                           const std::string& why) {
    with(header, data);
    INFO(header);
    CHECK_THROWS_WITH(lamina::load_safetensors(path),
                      Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(lamina::load_safetensors(path), lamina::format_error);
  };
  const auto entry = [](const std::string& type, const std::string& shape,
                        const std::string& offsets) {
    return "{\"w\":{\"dtype\":" + type + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
           "}}";
  };
  refused("{" + w + "," + w + "}", "1234",
          "expected each name once in the header, found 'w' twice");
  refused("{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "", "found 'dtype' twice");
  refused("{" + w + "}", "123", "offset 62: expected 4 bytes of 'w' in the file");
  refused("{" + w + "}", "12345",
          "expected the end of the file after 1 values, found 1 more bytes");
  refused(entry("\"F32\"", "[1]", "[4,8]"), "12345678", "found 'w' at 4 instead of 0");
  refused(entry("\"F32\"", "[1]", "[4,0]"), "1234", "expected data_offsets that ascend");
  refused(entry("\"F32\"", "[2]", "[0,4]"), "1234",
          "expected 4 bytes of 'w' in the file, found the shape [2]");
  refused(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "", "expected 0 bytes of 'w'");
  refused(entry("\"F32\"", "[-1]", "[0,4]"), "1234", "expected dimensions that are whole numbers");
  refused(entry("\"F32\"", "[1.5]", "[0,4]"), "1234", "expected dimensions that are whole numbers");
  refused(
      entry("\"C64\"", "[1]", "[0,8]"), "12345678",
      "offset 62: expected one of the dtypes BOOL I8 U8 I16 U16 I32 U32 I64 U64 F16 BF16 F32 F64 "
      "F8_E4M3 F8_E5M2 F8_E4M3FNUZ F8_E5M2FNUZ F8_E8M0 for 'w', found 'C64'");
  refused(entry("\"F1\"", "[2]", "[0,4]"), "1234", "found 'F1'");
  refused(entry("\"F4\"", "[2]", "[0,1]"), "1", "found 'F4'");
  refused(entry("\"F4\"", "[3]", "[0,1]"), "1", "expected 1 bytes of 'w'");
  refused(entry("\"BF16\"", "[3]", "[0,4]"), "1234", "found the shape [3] of BF16 and 4 bytes");
  refused(entry("\"U64\"", "[2]", "[0,16]"), std::string(8, '\1') + std::string(8, '\xff'),
          "expected numbers below 2^63 in 'w', found 18446744073709551615");
  refused(entry("7", "[2]", "[0,4]"), "1234", "expected a dtype that is a text");
  refused(entry("\"F32\"", "[1]", "[0]"), "1234", "expected two data_offsets");
  refused(entry("\"F32\"", "1", "[0,4]"), "1234", "expected a shape that is a list");
  refused(entry("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), "1234",
          "expected a shape of at most 16 dimensions for 'w', found 17");
  refused("{\"w\":{\"dtype\":\"F32\"}}", "", "expected dtype, shape and data_offsets for 'w'");
  refused("{\"__metadata__\":{\"a\":1}}", "", "expected texts in __metadata__");
  refused("{\"w\":[[[]]]}", "", "expected at most 3 levels in the header");
  refused("{\"w\":1e999}", "", "expected numbers of 64 bits in the header");
  refused("[]", "", "expected '{' at the begin of the header");
  refused("{\"w\":", "", "expected JSON in the header");
  lamina::write_file(path, std::string(8, '\xff') + "{}");
  CHECK_THROWS_WITH(
      lamina::load_safetensors(path),
      Contains("offset 0: expected a header of at most 2 bytes, found 18446744073709551615"));
  CHECK_THROWS_WITH(lamina::save_safetensors(path, named_tensors{{"__metadata__", tensor()}}),
                    Contains("found __metadata__"));
  CHECK_THROWS_WITH(lamina::save_safetensors(path, named_tensors{{"\xff", two().at("w")}}),
                    Contains("expected names of values in UTF-8"));
}
