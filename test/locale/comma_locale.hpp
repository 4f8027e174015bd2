// SPDX-License-Identifier: Apache-2.0
// A locale with a decimal comma and groups of thousands, for the whole process.
#pragma once

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <stdexcept>
#include <string>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LAMINA_TEST_LEAKS_OF_LIBRARY __lsan::ScopedDisabler disabler
#endif
#endif
#if !defined(LAMINA_TEST_LEAKS_OF_LIBRARY)
#define LAMINA_TEST_LEAKS_OF_LIBRARY static_cast<void>(0)
#endif

namespace test {

/// A test that finds no such locale says so; CMakeLists.txt then takes it as skipped.
inline constexpr const char* no_comma_locale =
    "locale: skipped: neither de_DE.UTF-8 nor the sources of locales are here (package locales)";

/// Makes de_DE.UTF-8 in `folder`, where the system has none. Whether it is there now.
inline bool make_comma_locale(const std::string& folder) {
  const std::string log = folder + "/localedef.log";
  const std::string make =
      "localedef -i de_DE -f UTF-8 '" + folder + "/de_DE.UTF-8' > '" + log + "' 2>&1";
  return std::system(make.c_str()) == 0 && ::setenv("LOCPATH", folder.c_str(), 1) == 0;
}

/// Streams, printf and the messages of the system follow de_DE.UTF-8 from now on. Whether they do:
/// 0.5 is "0,5" and a stream groups thousands.
inline bool use_comma_locale() {
  LAMINA_TEST_LEAKS_OF_LIBRARY;  // glibc does not free what it makes of LOCPATH
  try {
    std::locale::global(std::locale("de_DE.UTF-8"));  // calls setlocale too
  } catch (const std::runtime_error&) {
    return false;
  }
  char half[8];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  const auto& marks = std::use_facet<std::numpunct<char>>(std::locale());
  return half == std::string("0,5") && marks.decimal_point() == ',' && !marks.grouping().empty();
}

/// As a program starts.
inline void use_classic_locale() {
  LAMINA_TEST_LEAKS_OF_LIBRARY;
  std::locale::global(std::locale::classic());
  ::unsetenv("LOCPATH");
}

}  // namespace test
