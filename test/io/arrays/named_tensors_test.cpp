// SPDX-License-Identifier: Apache-2.0
// Files of parameters in all formats: values there and back, damage, foreign files.
#include <cstring>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/arrays/named_tensors.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/load_by_name.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::named_tensors;
using lamina::tensor;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::fc<3>(layer::fc<19>(x, {.act = lamina::activation::tanh}), {.name = "output"});
});

using net_model = lamina::model<std::remove_const_t<decltype(net)>>;

/// One kind of file.
struct kind {
  std::string suffix;
  void (*save)(const std::string&, const named_tensors&);
  named_tensors (*load)(const std::string&);
  void (*save_model)(const std::string&, const net_model&);
  void (*load_model)(const std::string&, net_model&);
};

const kind kinds[] = {
    {"npz", [](const std::string& path, const named_tensors& t) { lamina::save_npz(path, t); },
     [](const std::string& path) { return lamina::load_npz(path); },
     [](const std::string& path, const net_model& m) { lamina::save_npz(path, m); },
     [](const std::string& path, net_model& m) { lamina::load_npz(path, m); }},
    {"safetensors",
     [](const std::string& path, const named_tensors& t) { lamina::save_safetensors(path, t); },
     [](const std::string& path) { return lamina::load_safetensors(path); },
     [](const std::string& path, const net_model& m) { lamina::save_safetensors(path, m); },
     [](const std::string& path, net_model& m) { lamina::load_safetensors(path, m); }},
    {"tar", [](const std::string& path, const named_tensors& t) { lamina::to_tar(path, t); },
     [](const std::string& path) { return lamina::from_tar(path); },
     [](const std::string& path, const net_model& m) { lamina::to_tar(path, m); },
     [](const std::string& path, net_model& m) { lamina::from_tar(path, m); }}};

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

named_tensors all_types() {
  named_tensors t = two();
  t.emplace("double", tensor({2}, std::vector<double>{0.1, -1e300}));
  t.emplace("long", tensor({2, 1, 1}, std::vector<std::int64_t>{5, -6}));
  t.emplace("int", tensor({1}, std::vector<std::int32_t>{7}));
  t.emplace("short", tensor({3}, std::vector<std::int16_t>{1, 2, -3}));
  t.emplace("bytes/unsigned", tensor({5}, std::vector<std::uint8_t>{1, 2, 3, 4, 255}));
  t.emplace("signed", tensor({3}, std::vector<std::int8_t>{-1, 2, 3}));
  t.emplace("truth", tensor::filled<bool>({3}, true));
  t.emplace("scalar", tensor(lamina::tensor_shape{}, std::vector<float>{2.5f}));
  t.emplace("none", tensor::zeros(lamina::dtype::float32, {2, 0}));
  return t;
}

}  // namespace

TEST_CASE("parameter files: values and models go there and back, bit for bit") {
  const temporary_folder folder;
  for (const kind& k : kinds) {
    INFO(k.suffix);
    const std::string path = folder.path() + "/file." + k.suffix;
    const named_tensors values = k.suffix == "tar" ? two() : all_types();
    k.save(path, values);
    CHECK(same(k.load(path), values));
    k.save(path, {});
    CHECK(k.load(path).empty());

    const net_model first{net, 3};
    k.save_model(path, first);
    CHECK(k.load(path).at("fc_0.w_0").shape() == lamina::tensor_shape{4, 19});
    net_model second{net, 9};
    CHECK((second.get(0) != first.get(0)));
    k.load_model(path, second);
    for (int i = 0; i < net_model::parameter_arrays(); ++i) CHECK((second.get(i) == first.get(i)));
  }
  lamina::scope variables;
  variables.var("w") = two().at("w");
  lamina::save_npz(folder.path() + "/scope", variables);
  lamina::scope again;
  lamina::load_npz(folder.path() + "/scope", again);
  CHECK(same(again.get("w"), variables.get("w")));
  variables.var("s") = lamina::create_lod_tensor(two().at("w"), {{2}});
  CHECK_THROWS_WITH(lamina::save_npz(folder.path() + "/scope", variables),
                    Contains("expected a value without sequences for 's', found 1 levels"));
}

// Source: huggingface/sentence-transformers#3528.
TEST_CASE("programs in double: their parameters go there and back, bit for bit") {
  constexpr auto wide = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", double, 4>(main);
    return layer::fc<3>(layer::fc<19>(x, {.act = lamina::activation::tanh}), {.name = "output"});
  });
  using wide_model = lamina::model<std::remove_const_t<decltype(wide)>>;
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  wide_model first{wide, 3};
  for (int i = 0; i < wide_model::parameter_arrays(); ++i) {
    auto values = first.get(i);
    for (std::size_t k = 0; k < values.size(); ++k) values.data()[k] = 0.1 * double(k + 1) - 1e-12;
    first.set(i, values);
  }
  const auto check = [&](auto save, auto load) {
    save();
    wide_model second{wide, 9};
    load(second);
    for (int i = 0; i < wide_model::parameter_arrays(); ++i) CHECK((second.get(i) == first.get(i)));
    net_model narrow{net, 1};
    CHECK_THROWS_WITH(load(narrow), Contains("expected float32"));
  };
  check([&] { first.save(path); }, [&](auto& m) { m.load(path); });
  check([&] { lamina::save_npz(path, first); }, [&](auto& m) { lamina::load_npz(path, m); });
  check([&] { lamina::save_safetensors(path, first); },
        [&](auto& m) { lamina::load_safetensors(path, m); });
  check([&] { lamina::to_tar(path, first); }, [&](auto& m) { lamina::from_tar(path, m); });
  CHECK(lamina::from_tar(path).at("output.w_0").type() == lamina::dtype::float64);
}

// Sources: fhs/NPZ.jl#33, NeelayS/bomoto#9.
TEST_CASE("foreign files: what a model has no parameter for is not decoded") {
  const temporary_folder folder;
  const net_model first{net, 3};
  const std::string path = folder.path() + "/file";
  const auto loads = [&](const auto& load, const char* refused) {
    net_model found{net, 9};
    load(found);
    for (int i = 0; i < net_model::parameter_arrays(); ++i) CHECK((found.get(i) == first.get(i)));
    lamina::scope all;
    CHECK_THROWS_WITH(load(all), Contains(refused));
  };
  const auto patched = [&](const std::string& from, const std::string& to) {
    std::string bytes = lamina::read_file(path);
    const std::size_t at = bytes.find(from);
    REQUIRE(at != bytes.npos);
    lamina::write_file(path, bytes.replace(at, from.size(), to));
  };
  named_tensors values = lamina::tensors_of(first);
  values.emplace("step", tensor({1}, std::vector<std::int64_t>{5}));
  lamina::save_npz(path, values);
  patched("'descr': '<i8'", "'descr': '<u8'");
  loads([&](auto& to) { lamina::load_npz(path, to); }, "checksum");  // of what is asked for
  lamina::save_safetensors(path, values);
  patched("\"I64\"", "\"C64\"");
  loads([&](auto& to) { lamina::load_safetensors(path, to); }, "dtypes");
  values["step"] = tensor({2, 2}, std::vector<float>{1, 2, 3, 4});
  lamina::to_tar(path, values);
  patched(std::string("\0\0\0\0\4\0\0\0\4\0\0\0\0\0\0\0", 16),
          std::string("\0\0\0\0\2\0\0\0\4\0\0\0\0\0\0\0", 16));
  loads([&](auto& to) { lamina::from_tar(path, to); }, "elements of 4 or 8 bytes");
}

TEST_CASE("foreign files: the order of the bytes of one byte does not matter") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file.npy";
  const tensor wanted({3}, std::vector<std::int8_t>{-1, 2, 3});
  for (const char* order : {"|", "<", ">", "="}) {
    lamina::save_npy(path, wanted);
    std::string bytes = lamina::read_file(path);
    bytes.replace(bytes.find("'|i1'") + 1, 1, order);
    lamina::write_file(path, bytes);
    CHECK(same(lamina::load_npy(path), wanted));
  }
}

TEST_CASE("values of every kind of file are loaded by name") {
  const temporary_folder folder;
  for (const kind& k : kinds) {
    const net_model from{net, 3};
    net_model to{net, 4};
    const std::string path = folder.path() + "/values." + k.suffix;
    k.save_model(path, from);
    named_tensors values = k.load(path);
    values.erase("output.b_0");
    values.emplace("further", tensor({2}, std::vector<float>{1, 2}));
    if (k.suffix == "tar")  // which has no vectors
      values.at("fc_0.b_0") = tensor({19}, std::vector<float>(19));
    const lamina::load_report r = load_by_name(lamina::entries_of(values), to);
    CHECK(r.loaded == std::vector<std::string>{"fc_0.w_0", "fc_0.b_0", "output.w_0"});
    CHECK(r.missing == std::vector<std::string>{"output.b_0"});
    CHECK(r.surplus == std::vector<std::string>{"further"});
    CHECK(to.parameter<"output.w_0">() == from.parameter<"output.w_0">());
  }
}

TEST_CASE("parameter files: a model takes all parameters or none") {
  const temporary_folder folder;
  const net_model first{net, 3};
  for (const kind& k : kinds) {
    const std::string path = folder.path() + "/file." + k.suffix;
    net_model model{net, 9};
    const auto before = lamina::tensors_of(model);
    const auto refused = [&](const named_tensors& values, const std::string& why) {
      k.save(path, values);
      CHECK_THROWS_WITH(k.load_model(path, model), Contains(why) && Contains(path + ", offset "));
      CHECK_THROWS_AS(k.load_model(path, model), lamina::format_error);
      CHECK(same(lamina::tensors_of(model), before));
    };
    named_tensors values = lamina::tensors_of(first);
    values.erase("output.w_0");
    refused(values, "expected the parameter 'output.w_0', found 3 others");
    values["output.w_0"] = tensor::zeros(lamina::dtype::float32, {3, 19});
    refused(values,
            "expected float32 [19, 3] for the parameter 'output.w_0', found float32 [3, 19]");
    values["output.w_0"] = tensor::zeros(lamina::dtype::float64, {19, 3});
    refused(values, "found float64 [19, 3]");
  }
  const std::string path = folder.path() + "/some.tar";
  lamina::to_tar(path, named_tensors{{"output.b_0", tensor({1, 3}, std::vector<float>{1, 2, 3})},
                                     {"other", two().at("w")}});
  net_model model{net, 9};
  const auto weights = model.get(0);
  lamina::init_from_tar(path, model);
  CHECK((model.get(0) == weights));
  CHECK(same(lamina::tensors_of(model).at("output.b_0"), tensor({3}, std::vector<float>{1, 2, 3})));
}

TEST_CASE("parameter files: cut anywhere they are refused, with one bit wrong nothing is mixed",
          "[damage]") {
  const temporary_folder folder;
  for (const kind& k : kinds) {
    INFO(k.suffix);
    const std::string path = folder.path() + "/file." + k.suffix;
    k.save(path, two());
    const std::string whole = lamina::read_file(path);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      lamina::write_file(path, whole.substr(0, n));
      bool right = false;
      try {
        // A tar archive may end behind any member, and its last block need not be whole.
        const named_tensors read = k.load(path);
        right = k.suffix == "tar" &&
                (same(read, two()) ? n + 1024 + 512 > whole.size() : same(read, {*two().begin()}));
      } catch (const lamina::format_error& e) {
        right = e.file() == path && e.offset() <= n;
      }
      if (!right) FAIL_CHECK(k.suffix << " cut after " << n << " bytes");
    }
    for (std::size_t n = 0; n < whole.size(); ++n) {
      std::string damaged = whole;
      damaged[n] = static_cast<char>(damaged[n] ^ 1 << (n % 7));
      lamina::write_file(path, damaged);
      try {
        const named_tensors read = k.load(path);
        // Only zip has checksums of the values.
        if (k.suffix == "npz" && !same(read, two())) FAIL_CHECK("byte " << n << " changed values");
      } catch (const lamina::format_error& e) {
        if (e.file() != path || e.offset() > whole.size()) FAIL_CHECK(e.what());
      }
    }
  }
}
