// SPDX-License-Identifier: Apache-2.0
// Parameters in the files of numpy, safetensors and PaddlePaddle v2: written, read, damaged.
#include <cstring>

#include "temporary_folder.hpp"
#include <catch2/catch.hpp>

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
std::string changed(std::string bytes, std::size_t at, const std::string& to) {
  return bytes.replace(at, to.size(), to);
}

}  // namespace

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
  patched("\"I64\"", "\"U64\"");
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
  lamina::save_npy(path, tensor({1}, std::vector<float>{1}));
  std::string bytes = lamina::read_file(path);
  lamina::write_file(path, bytes.replace(bytes.find("'<f4'") + 1, 1, ">"));
  CHECK_THROWS_WITH(lamina::load_npy(path), Contains("found '>f4'"));
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

TEST_CASE("parameter files: cut anywhere they are refused, with one bit wrong nothing is mixed") {
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

TEST_CASE("npy: numpy's bytes, both orders of elements, and what is refused") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/array.npy";
  const auto with = [&](const std::string& dictionary, const std::string& data) {
    std::string header = dictionary;
    header.append(117 - header.size(), ' ');
    return "\x93NUMPY" + std::string("\1\0\x76\0", 4) + header + "\n" + data;
  };
  const std::string data("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40",
                         24);
  const std::string rows = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const tensor counted({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  lamina::save_npy(path, counted);
  CHECK(lamina::read_file(path) == with(rows, data));  // numpy 1.26: 128 bytes and the elements
  const auto read = [&](const std::string& bytes) {
    lamina::write_file(path, bytes);
    return lamina::load_npy(path);
  };
  CHECK(same(read(with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", data)),
             tensor({2, 3}, std::vector<float>{1, 3, 5, 2, 4, 6})));
  CHECK(same(read(with("{\"shape\": (6L,), 'fortran_order': True,'descr': '<f4'}", data)),
             tensor({6}, std::vector<float>{1, 2, 3, 4, 5, 6})));
  // Written by others: tabs and carriage returns, the machine's order of bytes.
  // Source: llohse/libnpy#26.
  CHECK(same(read(with("{'descr':\t'=f4', 'fortran_order': False, 'shape': (2, 3), }\r", data)),
             counted));
  std::string second = with(rows, data);
  second = second.substr(0, 6) + std::string("\2\0\x76\0\0\0", 6) + second.substr(10);
  CHECK(same(read(second), counted));
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    INFO(bytes);
    CHECK_THROWS_WITH(read(bytes), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(read(bytes), lamina::format_error);
  };
  refused(with(rows, data + "x"), "expected the end of the file of one array, found 1 more bytes");
  refused(with(rows, "1234"), "offset 128: expected at most 4 bytes of an array, found the shape");
  refused(changed(with(rows, data), 0, "x"), "offset 0: expected an array of numpy");
  refused(changed(with(rows, data), 6, "\4"),
          "expected version 1.0, 2.0 or 3.0 of an array, found 4.0");
  refused(changed(with(rows, data), 8, "\xff\xff"), "expected 65535 bytes of the header");
  refused(changed(second, 8, "\xff\xff\xff\xff"),
          "expected a header of at most 65535 bytes, found 4294967295");
  const auto header = [&](const std::string& dictionary, const std::string& why) {
    refused(with(dictionary, data), why);
  };
  header("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
         "offset 20: expected little-endian elements, found '>f4'");
  header("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "found '<f2'");
  header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
         "offset 20: expected elements of one number each, found a structured type");
  header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", "expected True or False");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (6), }",
         "expected ',' after the only dimension");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
         "expected a dimension, found no digits");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "below 2^62");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "expected at most 24 bytes");
  header("{'descr': '<f4', 'fortran_order': False}",
         "expected descr, fortran_order and shape in the header, found fewer");
  header("{'descr': '<f4', 'descr': '<f4'}", "expected one 'descr', found a second one");
  header("{'descr': '<f4', 'order': False}", "found 'order'");
  header("{'descr': '<f4' 'shape': ()}", "expected ','");
  header(rows + "x", "expected the end of the header, found more");
}

TEST_CASE("npz: large archives, deflated members, and directories that lie") {
  CHECK(lamina::crc32_of("123456789", 9) == 0xcbf43926u);
  CHECK(lamina::crc32_of("6789", 4, lamina::crc32_of("12345", 5)) == 0xcbf43926u);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * i + 3 * i);
  std::uint32_t r = ~0u;  // bit by bit
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    CHECK(lamina::crc32_of(bytes.data(), n) == ~r);
    const std::uint32_t half = lamina::crc32_of(bytes.data(), n / 2);
    CHECK(lamina::crc32_of(bytes.data() + n / 2, n - n / 2, half) == ~r);
    r ^= static_cast<unsigned char>(bytes[n]);
    for (int bit = 0; bit < 8; ++bit) r = (r & 1) != 0 ? r >> 1 ^ 0xedb88320u : r >> 1;
  }
  const temporary_folder folder;
  const std::string path = folder.path() + "/file.npz";
  {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to, 200);  // as if 200 bytes were 4 GiB
    for (const auto& [name, value] : two())
      archive.add(name + ".npy", lamina::npy_header_of(value), value.data(), value.size() * 4);
    archive.finish();
    to.finish();
  }
  CHECK(same(lamina::load_npz(path), two()));

  {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to);
    archive.add("folder/", "", nullptr, 0);  // as the program zip writes it
    for (const char* name : {"folder/v.npy", ".npy"}) {
      const tensor v({1}, std::vector<float>{3});
      archive.add(name, lamina::npy_header_of(v), v.data(), 4);
    }
    archive.finish();
    to.finish();
  }
  CHECK(lamina::load_npz(path).size() == 2);
  CHECK(lamina::load_npz(path).count("folder/v") == 1);
  CHECK(lamina::load_npz(path).count("") == 1);

  lamina::save_npz(path, two());
  const std::string whole = lamina::read_file(path);
  CHECK(whole.find("\x93NUMPY") % 64 == 0);  // may be mapped into memory
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    lamina::write_file(path, bytes);
    CHECK_THROWS_WITH(lamina::load_npz(path), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(lamina::load_npz(path), lamina::format_error);
  };
  const std::size_t entry = whole.find("PK\1\2"), second = whole.find("PK\1\2", entry + 1);
  const std::size_t end = whole.find("PK\5\6");
  const std::string huge("\xf0\xff\xff\xff", 4);
  refused("no archive", "offset 0: expected a zip archive, found no end record of one");
  refused(whole + "x", "found no end record");
  refused("x" + whole, "expected a zip archive's directory that ends at");
  refused(changed(whole, end + 10, "\3"), "expected a zip archive of one part, found several");
  refused(changed(whole, end + 8, std::string("\3\0\3", 3)), "expected at most 2 members");
  refused(changed(whole, end + 8, std::string("\1\0\1", 3)),
          "expected the end of a zip archive's directory, found more");
  refused(changed(whole, end + 12, huge), "expected a zip archive's directory that ends at");
  refused(changed(whole, entry + 8, "\1"), "expected 'v.npy' in the clear");
  refused(changed(whole, entry + 10, "\x0c"), "stored (0) or deflated (8), found method 12");
  refused(changed(whole, entry + 20, huge), "expected one size of the stored 'v.npy'");
  refused(changed(changed(whole, entry + 20, huge), entry + 24, huge),
          "to agree with the directory");
  refused(changed(whole, entry + 42, huge), "expected 'v.npy' between");
  refused(changed(whole, second + 42, std::string(4, '\0')), "expected 'w.npy' between");
  refused(changed(whole, entry + 46, "w"), "expected one member 'w.npy', found a second one");
  refused(changed(whole, entry + 46, "x"), "expected the header of 'x.npy' to agree");
  refused(changed(changed(whole, entry + 50, "x"), 34, "x"),
          "expected members NAME.npy, found 'v.npx'");
  refused(changed(whole, whole.find("NUMPY") + 1, "X"), "expected the checksum");
#if LAMINA_HAS_ZLIB
  // One member of 40 zeros, deflated by hand: a block of fixed codes.
  const std::string header = lamina::npy_header_of(tensor::zeros(lamina::dtype::float32, {10}));
  const std::string plain = header + std::string(40, '\0');
  std::string packed(200, '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(plain.data()), plain.size()) == Z_OK);
  packed = packed.substr(2, size - 6);  // without what zlib puts around
  const auto deflated = [&](std::uint32_t said, std::uint32_t crc) {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to);
    archive.add("w.npy", packed, nullptr, 0);
    archive.finish();
    to.finish();
    std::string bytes = lamina::read_file(path);
    for (const std::size_t method : {std::size_t{8}, bytes.find("PK\1\2") + 10}) {
      bytes[method] = 8;
      std::memcpy(&bytes[method + 6], &crc, 4);
      std::memcpy(&bytes[method + 14], &said, 4);
    }
    return bytes;
  };
  const std::uint32_t crc = lamina::crc32_of(plain.data(), plain.size());
  lamina::write_file(path, deflated(168, crc));
  CHECK(same(lamina::load_npz(path).at("w"), tensor::zeros(lamina::dtype::float32, {10})));
  refused(deflated(168, crc + 1), "expected the checksum");
  refused(deflated(169, crc), "expected 169 bytes deflated to");
  refused(deflated(167, crc), "expected 167 bytes deflated to");
  refused(deflated(0xf0000000u, crc), "* 1040 bytes in 'w.npy', found the size 4026531840");
#endif
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
  refused(entry("\"BF16\"", "[2]", "[0,4]"), "1234", "expected one of the dtypes");
  refused(entry("\"F32\"", "[1]", "[0]"), "1234", "expected two data_offsets");
  refused(entry("\"F32\"", "1", "[0,4]"), "1234", "expected a shape of at most 16 dimensions");
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

TEST_CASE("tar: the bytes of v2, archives without an end, and members that are none") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file.tar";
  lamina::to_tar(path, named_tensors{{"b", tensor({2}, std::vector<float>{1, 2})}});
  const std::string whole = lamina::read_file(path);
  CHECK(whole.size() == 2 * 1024 + 1024);
  CHECK(whole.substr(512, 24) ==
        std::string("\0\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 24));
  const std::string config("\x0a\1b\x10\2\x48\1\x48\2", 9);  // name b, size 2, dims 1 2
  CHECK(whole.substr(1536, 10) == config + std::string(1, '\0'));
  const auto read = [&](const std::string& bytes) {
    lamina::write_file(path, bytes);
    return lamina::from_tar(path);
  };
  const named_tensors row{{"b", tensor({1, 2}, std::vector<float>{1, 2})}};
  CHECK(same(read(whole.substr(0, 2048)), row));
  // Long names in GNU's way; as pax, Python's way since 3.8.
  const named_tensors long_name{{std::string(150, 'n'), row.at("b")}};
  lamina::to_tar(path, long_name);
  CHECK(same(lamina::from_tar(path), long_name));

  const auto sealed = [](std::string bytes, std::size_t at) {
    std::memset(&bytes[at + 148], ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = at; i < at + 512; ++i) sum += static_cast<unsigned char>(bytes[i]);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    return changed(bytes, at + 148, std::string(digits, 7));
  };
  std::string pax =
      sealed(changed(changed(whole.substr(0, 512), 156, "x"), 124, "00000000012"), 0) +
      "10 path=b\n";
  pax.append(1024 - pax.size(), '\0');
  CHECK(same(read(pax + sealed(changed(whole, 0, "x"), 0)), row));
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    CHECK_THROWS_WITH(read(bytes), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(read(bytes), lamina::format_error);
  };
  refused(changed(whole, 0, "x"), "of a member's header, found");
  refused(sealed(changed(whole, 0, "x"), 0), "expected a ParameterConfig 'x.protobuf', found none");
  refused(sealed(changed(whole, 156, "2"), 0),
          "expected files in a tar archive, found a member of type 50");
  refused(sealed(changed(whole, 124, "77777777777"), 0), "expected at most 2560 bytes of a member");
  refused(sealed(changed(whole, 124, "0000000003x"), 0), "expected an octal number");
  refused(sealed(changed(whole, 124, "\x80" + std::string(11, '\xff')), 0),
          "expected an octal number");
  refused(changed(whole, 512, "\1"),
          "expected format 0 with elements of 4 or 8 bytes in 'b', found format 1");
  refused(changed(whole, 516, "\10"), "expected 2 elements of 'b', found 2 in 8 bytes");
  refused(changed(whole, 520, "\3"), "expected 2 elements of 'b', found 3 in 8 bytes");
  refused(changed(whole, 1540, "\3"), "expected dims of 3 elements of 'b', found [1, 2]");
  refused(changed(whole, 1538, "c"),
          "expected the ParameterConfig of 'b.protobuf', found that of 'c'");
  refused(changed(whole, 1537, "\x7f"), "expected a ParameterConfig in 'b.protobuf'");
  refused(whole.substr(0, 1024) + whole.substr(0, 1024),
          "expected one member 'b', found a second one");
  refused(whole.substr(1024), "expected the values of 'b', found its ParameterConfig only");
  refused(whole.substr(0, 2048) + std::string(512, '\0') + "x", "expected zeros up to the end");
  CHECK_THROWS_WITH(
      lamina::to_tar(path, named_tensors{{"n", tensor::zeros(lamina::dtype::int32, {1})}}),
      Contains("expected parameters of float32"));
}
