// SPDX-License-Identifier: Apache-2.0
// file_cases write FOLDER: writes values into the files of numpy, safetensors and v2.
// file_cases run FOLDER: reads what compare_files.py wrote, and compares it bit for bit.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>

namespace {

using lamina::named_tensors;

/// Bytes that compare_files.py makes in the same way: any bits, NaN's too.
template <class T>
void add(named_tensors& to, const std::string& name, lamina::tensor_shape shape) {
  const std::size_t n = lamina::size_of(shape) * sizeof(T);
  std::vector<unsigned char> bytes;
  for (std::size_t k = 0; k < n; ++k)
    bytes.push_back(static_cast<unsigned char>(k * 73 + k / 11 + name.size() * 29));
  xt::xarray<T> values = xt::xarray<T>::from_shape(shape);
  if constexpr (__is_same(T, bool)) {
    for (std::size_t k = 0; k < n; ++k) values.flat(k) = (bytes[k] & 1) != 0;
  } else if (n > 0) {
    std::memcpy(values.data(), bytes.data(), n);
  }
  to.emplace(name, std::move(values));
}
named_tensors floats() {
  named_tensors all;
  add<float>(all, "fc_0.w_0", {3, 5});
  add<float>(all,
             "layer/gr\xc3\xb6\xc3\x9f"
             "e",
             {2, 2});
  add<float>(all, std::string(150, 'n'), {1, 4});
  return all;
}
named_tensors all_types() {
  named_tensors all = floats();
  add<double>(all, "double", {2, 3, 4});
  add<std::int64_t>(all, "long", {7});
  add<std::int32_t>(all, "int", {1, 4});
  add<std::int16_t>(all, "short", {2, 2});
  add<std::int8_t>(all, "signed", {5});
  add<std::uint8_t>(all, "unsigned", {6});
  add<bool>(all, "truth", {9});
  add<float>(all, "scalar", {});
  add<float>(all, "none", {2, 0});
  return all;
}

int failed = 0, equal = 0;

void compare(const std::string& file, const named_tensors& found, const named_tensors& expected) {
  bool same = found.size() == expected.size();
  for (const auto& [name, value] : expected) {
    const auto other = found.find(name);
    const std::size_t n = value.size() * static_cast<std::size_t>(size_of(value.type()));
    same = same && other != found.end() && other->second.type() == value.type() &&
           other->second.shape() == value.shape() &&
           (n == 0 || std::memcmp(other->second.data(), value.data(), n) == 0);
  }
  ++(same ? equal : failed);
  if (!same) std::printf("%s: read with other values than were written\n", file.c_str());
}
template <class Read>
void run(const std::string& file, const named_tensors& expected, Read read) {
  try {
    compare(file, read(), expected);
  } catch (const std::exception& e) {
    ++failed;
    std::printf("%s\n", e.what());
  }
}

void write(const std::string& folder) {
  lamina::make_directories(folder);
  lamina::save_npz(folder + "/here.npz", all_types());
  lamina::save_safetensors(folder + "/here.safetensors", all_types());
  lamina::to_tar(folder + "/here.tar", floats());
  int i = 0;
  for (const auto& [name, value] : all_types())
    lamina::save_npy(folder + "/here" + std::to_string(i++) + ".npy", value);
}

int run(const std::string& folder) {
  for (const char* file : {"/stored.npz", "/deflated.npz", "/columns_first.npz"})
    run(file, all_types(), [&] { return lamina::load_npz(folder + file); });
  run("/there.safetensors", all_types(),
      [&] { return lamina::load_safetensors(folder + "/there.safetensors"); });
  for (const char* file : {"/gnu.tar", "/pax.tar", "/without_end.tar"})
    run(file, floats(), [&] { return lamina::from_tar(folder + file); });
  int i = 0;
  for (const auto& [name, value] : all_types()) {
    const std::string file = "/there" + std::to_string(i++) + ".npy";
    run(file, {{name, value}}, [&, name = name] {
      return named_tensors{{name, lamina::load_npy(folder + file)}};
    });
  }
  std::printf("%d of %d files read here with equal bits\n", equal, equal + failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  try {
    if (what == "run") return run(argv[2]);
    if (what == "write") return write(argv[2]), 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "file_cases: %s\n", e.what());
    return 1;
  }
  std::fputs("usage: file_cases (write | run) FOLDER\n", stderr);
  return 2;
}
