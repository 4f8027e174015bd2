// SPDX-License-Identifier: Apache-2.0
// Linked into a program, it runs all of it under a locale with a decimal comma when the environment
// has LAMINA_TEST_LOCALE, the folder where localedef may have made that locale (make).
// Status 77 when there is none.
#include <iostream>

#include <locale/comma_locale.hpp>

namespace {

const bool at_start = [] {
  const char* folder = std::getenv("LAMINA_TEST_LOCALE");
  if (folder == nullptr) return false;
  const bool found = ::setenv("LOCPATH", folder, 1) == 0 && test::use_comma_locale();
  ::unsetenv("LOCPATH");
  if (!found && !test::use_comma_locale()) {  // nor the system's own
    std::fprintf(stderr, "%s\n", test::no_comma_locale);
    std::_Exit(77);
  }
  for (std::ostream* to : {&std::cout, &std::cerr, &std::clog}) to->imbue(std::locale());
  std::fprintf(stderr, "under %s\n", std::setlocale(LC_NUMERIC, nullptr));
  return true;
}();

}  // namespace
