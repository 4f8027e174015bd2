// SPDX-License-Identifier: Apache-2.0
// test/image/folder_test.cpp - images of all kinds from folders, and damaged ones.
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include "reader/read.hpp"
#include <catch2/catch.hpp>
#include <zlib.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/image/folder.hpp>
#include <lamina/image/image.hpp>
#include <lamina/reader/reader.hpp>

namespace image = lamina::image;
namespace reader = lamina::reader;
using Catch::Contains;

namespace {

std::string chunk(const std::string& type, const std::string& data) {
  const std::string all = type + data;
  const auto sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size()));
  return test::big(data.size()) + all + test::big(sum);
}
/// A PNG file written by hand: `rows` are bytes, each row behind its filter 0; kind 0 is grey, 2
/// RGB, 3 a palette, 4 grey and alpha, 6 RGB and alpha.
std::string png(int width, int height, int bits, int kind, const std::string& rows,
                const std::string& before_rows = "") {
  uLongf size = ::compressBound(rows.size());
  std::string packed(size, '\0');
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  const std::string header =
      test::big(static_cast<std::uint64_t>(width)) + test::big(static_cast<std::uint64_t>(height)) +
      static_cast<char>(bits) + static_cast<char>(kind) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + before_rows + chunk("IDAT", packed) +
         chunk("IEND", "");
}
std::string bytes(std::initializer_list<int> values) {
  std::string all;
  for (const int v : values) all += static_cast<char>(v);
  return all;
}

/// A JPEG file of 16 * 8 pixels, of which the upper left quarter is `first` and the rest `other`.
std::string jpeg(const std::vector<int>& first, const std::vector<int>& other,
                 ::J_COLOR_SPACE space, const std::string& exif = "") {
  ::jpeg_compress_struct state{};
  ::jpeg_error_mgr manager{};
  state.err = ::jpeg_std_error(&manager);
  ::jpeg_CreateCompress(&state, JPEG_LIB_VERSION, sizeof state);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  ::jpeg_mem_dest(&state, &memory, &size);
  state.image_width = 16;
  state.image_height = 8;
  state.input_components = static_cast<int>(first.size());
  state.in_color_space = space;
  ::jpeg_set_defaults(&state);
  ::jpeg_set_quality(&state, 100, static_cast<::boolean>(1));
  ::jpeg_start_compress(&state, static_cast<::boolean>(1));
  if (!exif.empty())
    ::jpeg_write_marker(&state, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                        static_cast<unsigned>(exif.size()));
  for (int y = 0; y < 8; ++y) {
    std::vector<unsigned char> row;
    for (int x = 0; x < 16; ++x)
      for (const int v : y < 4 && x < 8 ? first : other)
        row.push_back(static_cast<unsigned char>(v));
    unsigned char* at = row.data();
    ::jpeg_write_scanlines(&state, &at, 1);
  }
  ::jpeg_finish_compress(&state);
  ::jpeg_destroy_compress(&state);
  std::string all(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return all;
}
/// An Exif marker with this orientation, in either order of bytes.
std::string exif(int orientation, bool big) {
  const auto number = [&](int value, int count) {
    std::string n;
    for (int i = 0; i < count; ++i) {
      const char c = static_cast<char>(value >> 8 * i & 255);
      n = big ? c + n : n + c;
    }
    return n;
  };
  return std::string("Exif\0\0", 6) + (big ? "MM" : "II") + number(42, 2) + number(8, 4) +
         number(2, 2) + number(0x10f, 2) + number(2, 2) + number(1, 4) + number(0, 4) +
         number(0x112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2) +
         number(0, 4);
}

image::picture read(const std::string& file, int channels = 0, image::read_options options = {}) {
  const test::temporary_directory folder;
  return image::read_picture(folder.write("x", file), channels, options);
}
using floats = std::vector<float>;
const std::string grey_png = png(2, 2, 8, 0, bytes({0, 0, 51, 0, 102, 255}));

}  // namespace

TEST_CASE("PNG files of all kinds", "[image]") {
  const auto grey = read(grey_png);
  CHECK(grey.channels == 1);
  CHECK(grey.pixels == floats{0, 0.2f, 0.4f, 1});
  CHECK(read(grey_png, 3).pixels == floats{0, .2f, .4f, 1, 0, .2f, .4f, 1, 0, .2f, .4f, 1});
  CHECK(read(png(3, 1, 1, 0, bytes({0, 0xa0}))).pixels == floats{1, 0, 1});
  // 16 bits are not cut to 8, whatever the order of bytes is.
  CHECK(read(png(2, 1, 16, 0, bytes({0, 0x01, 0x02, 0xff, 0xfe}))).pixels ==
        floats{258 / 65535.f, 65534 / 65535.f});
  const std::string colors = bytes({0, 255, 0, 51, 102, 255, 0});
  CHECK(read(png(2, 1, 8, 2, colors)).pixels == floats{1, .4f, 0, 1, .2f, 0});
  CHECK(read(png(2, 1, 8, 2, colors), 1).pixels[0] == Approx(0.299f + 0.114f * 0.2f));
  const std::string palette = chunk("PLTE", bytes({255, 0, 0, 0, 0, 255}));
  CHECK(read(png(2, 1, 8, 3, bytes({0, 1, 0}), palette)).pixels == floats{0, 1, 0, 0, 1, 0});
  // What is transparent shows the background: white unless black is asked for.
  const std::string half = png(2, 1, 8, 6, bytes({0, 255, 0, 0, 255, 9, 9, 9, 0}));
  CHECK(read(half).pixels == floats{1, 1, 0, 1, 0, 1});
  CHECK(read(half, 0, {.background = 0}).pixels == floats{1, 0, 0, 0, 0, 0});
  CHECK(read(png(1, 1, 8, 4, bytes({0, 0, 51})), 0, {.background = 1}).pixels[0] == Approx(0.8f));
  const std::string hidden = palette + chunk("tRNS", bytes({0}));
  CHECK(read(png(2, 1, 8, 3, bytes({0, 1, 0}), hidden)).pixels == floats{0, 1, 0, 1, 1, 1});
}
TEST_CASE("JPEG files: grey, colours, and the orientation of cameras", "[image]") {
  const auto grey = read(jpeg({255}, {51}, JCS_GRAYSCALE));
  CHECK((grey.channels == 1 && grey.height == 8 && grey.width == 16));
  CHECK(grey.pixels[0] == Approx(1).margin(0.02));
  CHECK(grey.pixels[127] == Approx(0.2f).margin(0.02));
  auto color = read(jpeg({255, 0, 51}, {255, 0, 51}, JCS_RGB));
  CHECK(color.channels == 3);
  for (int c = 0; c < 3; ++c)
    CHECK(color.view()(c, 4, 9) == Approx(c == 0 ? 1 : c == 1 ? 0 : 0.2f).margin(0.03));
  CHECK_THROWS_WITH(read(jpeg({1, 2, 3, 4}, {5, 6, 7, 8}, JCS_CMYK)), Contains("found 4 (CMYK)"));
  // Which corner the first quarter of the file comes to, for orientations 1 to 8.
  const char* corners[] = {"top left", "top right", "bottom right", "bottom left",
                           "top left", "top right", "bottom right", "bottom left"};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool big : {false, true}) {
      auto p = read(jpeg({255}, {0}, JCS_GRAYSCALE, exif(orientation, big)));
      INFO(orientation);
      CHECK((p.height == (orientation > 4 ? 16 : 8) && p.width == (orientation > 4 ? 8 : 16)));
      for (const std::string corner : {"top left", "top right", "bottom left", "bottom right"}) {
        const int y = corner[0] == 't' ? 0 : p.height - 1,
                  x = corner.find("left") == corner.npos ? p.width - 1 : 0;
        CHECK((p.view()(0, y, x) > 0.5f) == (corner == corners[orientation - 1]));
      }
    }
  // A damaged marker says nothing.
  for (std::size_t n = 0; n < exif(6, true).size() - 12; ++n)
    CHECK(read(jpeg({255}, {0}, JCS_GRAYSCALE, exif(6, true).substr(0, n))).height == 8);
}
TEST_CASE("an image of another size is scaled with all its pixels", "[image]") {
  // A ramp stays a ramp; halving is a mean with the neighbours, which keeps the mean.
  image::picture ramp{1, 8, 16, {}};
  for (int i = 0; i < 128; ++i) ramp.pixels.push_back(static_cast<float>(i % 16));
  CHECK(image::resized(ramp, 8, 16).pixels == ramp.pixels);
  auto stretched = image::resized(ramp, 4, 8, image::fit::stretch);
  for (int x = 1; x < 7; ++x)
    CHECK(stretched.view()(0, 2, x) == Approx(2 * static_cast<float>(x) + 0.5f));
  auto covered = image::resized(ramp, 4, 4);  // columns 4 to 11
  CHECK(covered.view()(0, 2, 1) == Approx(6.5f));
  CHECK(covered.view()(0, 2, 2) == Approx(8.5f));
  auto grown = image::resized(ramp, 16, 32);
  CHECK(grown.view()(0, 7, 15) == Approx(7.25f));
  // A pattern of single pixels becomes grey; sampling would make it black or white.
  image::picture pattern{1, 64, 64, {}};
  for (int i = 0; i < 64 * 64; ++i) pattern.pixels.push_back(static_cast<float>((i + i / 64) % 2));
  for (const float x : image::resized(pattern, 7, 7).pixels) CHECK(x == Approx(0.5f).margin(0.05));
  CHECK_THROWS_WITH(image::resized(pattern, 0, 7), Contains("64 * 64 to 0 * 7"));
}
TEST_CASE("a folder for each class, in the order of names", "[image]") {
  const test::temporary_directory folder;
  namespace fs = std::filesystem;
  for (const char* name : {"2", "10", "a/deep", ".cache"})
    fs::create_directories(folder.path() + "/" + name);
  for (const char* name : {"2/b.png", "2/a.PNG", "10/x.png", "a/deep/y.png", "a/z.png",
                           ".cache/q.png", "2/.hidden.png"})
    folder.write(name, grey_png);
  folder.write("a/x.JPG", jpeg({255}, {51}, JCS_GRAYSCALE));
  folder.write("a/notes.txt", "not an image");
  folder.write("readme.md", "nor this");
  const auto files = image::folder(folder.path());
  CHECK(files.classes() == std::vector<std::string>{"10", "2", "a"});
  std::vector<std::string> order;
  for (const auto& [path, label] : files)
    order.push_back(std::to_string(label) + path.substr(folder.path().size()));
  CHECK(order == std::vector<std::string>{"0/10/x.png", "1/2/a.PNG", "1/2/b.png", "2/a/deep/y.png",
                                          "2/a/x.JPG", "2/a/z.png"});

  const auto load = [&](std::size_t threads) {
    std::vector<floats> images;
    for (auto&& [pixels, label] : test::read(
             files | reader::shuffle(100, 5) |
             reader::xmap(image::load<3, 6, 5>({.fit = image::fit::stretch}),
                          {.threads = threads}) |
             reader::xmap(image::augment<3, 6, 5>(image::flip{}, image::affine{.degrees = 30}),
                          {.threads = threads, .seed = 1}))) {
      CHECK(pixels.size() == 3 * 6 * 5);
      images.push_back(pixels);
    }
    return images;
  };
  const auto one = load(1);
  CHECK(one.size() == 6);
  CHECK(load(4) == one);

  // Data to test with have the numbers of the data to train with.
  const auto classes = std::vector<std::string>{"a", "b", "2", "10"};
  CHECK(image::folder(folder.path(), classes)[0].label == 3);
  CHECK_THROWS_WITH(image::folder(folder.path(), {"10", "a"}),
                    Contains("/2: expected a folder with the name of a class, found another one"));
  fs::create_directories(folder.path() + "/empty");
  CHECK_THROWS_WITH(image::folder(folder.path()),
                    Contains("/empty: expected a PNG or JPEG file, found none"));
  folder.write("empty/x.gif", "GIF89a");
  CHECK_THROWS_WITH(image::folder(folder.path()),
                    Contains("x.gif, offset 0: expected a PNG or JPEG file, found .gif"));
  fs::remove_all(folder.path() + "/empty");
  folder.write("beside.png", grey_png);
  CHECK_THROWS_WITH(image::folder(folder.path()),
                    Contains("beside.png: expected images in a folder"));
  CHECK_THROWS_WITH(image::folder(folder.path() + "/2"),
                    Contains("expected images in a folder for each class"));
  CHECK_THROWS_WITH(image::folder(folder.path() + "/none"), Contains("/none: cannot be read"));
}
TEST_CASE("damaged images are errors that name the file", "[image]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/x";
  int refused = 0;
  const auto damaged = [&](const std::string& file) {
    try {
      const auto p = image::read_picture(folder.write("x", file));
      CHECK(p.pixels.size() == static_cast<std::size_t>(p.channels * p.height * p.width));
    } catch (const lamina::format_error& e) {
      CHECK(e.file() == path);
      CHECK_THAT(e.what(), Contains(path));
      ++refused;
    }
  };
  const std::string jpeg_file = jpeg({255, 0, 51}, {0, 99, 200}, JCS_RGB, exif(6, false));
  for (const std::string& good : {grey_png, jpeg_file}) {
    refused = 0;
    for (std::size_t n = 0; n < good.size(); ++n) damaged(good.substr(0, n));
    CHECK(refused == static_cast<int>(good.size()));
    refused = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string file = good;
      file[i] = static_cast<char>(file[i] ^ (1 << i % 8));
      damaged(file);
    }
    // A PNG file has a checksum of each part; a JPEG file has none.
    CHECK(refused > (good == grey_png ? static_cast<int>(good.size()) - 1 : 50));
  }
  CHECK_THROWS_WITH(read(""), Contains("found an empty file"));
  CHECK_THROWS_WITH(read("GIF89a"), Contains("found another format"));
  CHECK_THROWS_WITH(image::read_picture(path + "none"), Contains("xnone: cannot be opened"));
  CHECK_THROWS_WITH(read(grey_png, 2), Contains("expected 0, 1 or 3 channels, found 2"));
  // A header alone asks for no memory.
  CHECK_THROWS_WITH(read(png(60000, 60000, 8, 0, "")), Contains("found 60000 rows of 60000"));
}
