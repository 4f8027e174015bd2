// SPDX-License-Identifier: Apache-2.0
// test/stderr_text.hpp - what a function writes to stderr.
#pragma once

#include <cstdio>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

namespace test {

/// What `f` writes to stderr, its first 4096 characters.
template <class F>
std::string written_by(F f) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = dup(2);
  dup2(fileno(file), 2);
  f();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::string text(4096, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace test
