// SPDX-License-Identifier: Apache-2.0
// Values of variables in files of their names, and in one file in alphabetic order.
#include <catch2/catch.hpp>
#include <io/temporary_folder.hpp>

#include <lamina/io/arrays/variable_files.hpp>

using Catch::Contains;

TEST_CASE("variable files: one each or all in one, in alphabetic order") {
  const temporary_folder folder;
  lamina::scope variables;
  variables.var("b") = lamina::tensor({2}, std::vector<float>{1, 2});
  variables.var("a/w") = lamina::tensor({1, 1}, std::vector<double>{3});
  variables.var("c") = lamina::tensor({0}, std::vector<float>{});
  const std::vector<std::string> names{"b", "c", "a/w"};
  save_variables(folder.path(), variables, names);
  save_variables(folder.path(), variables, names, "all");
  std::string joined;
  for (const char* name : {"a/w", "b", "c"})
    joined += lamina::read_file(folder.path() + "/" + name);
  CHECK(lamina::read_file(folder.path() + "/all") == joined);
  for (const std::string file : {"", "all"}) {
    lamina::scope read;
    load_variables(folder.path(), read, names, file);
    CHECK(read.get("a/w").as<double>()(0, 0) == 3);
    CHECK((read.get("b").as<float>() == variables.get("b").as<float>()));
    CHECK(read.get("c").size() == 0);
  }
  lamina::scope few;
  CHECK_THROWS_WITH(load_variables(folder.path(), few, {"a/w", "b"}, "all"),
                    Contains("expected the end of the file after 2 variables"));
  CHECK_THROWS_WITH(load_variables(folder.path(), few, {"b", "d"}),
                    Contains("d, offset 0: expected the value of variable 'd', found no file"));
  CHECK(few.names().empty());
  for (const char* outside : {"../b", "a/../../b", "..\\b", "/b", "a//w", "a/", ""}) {
    CHECK_THROWS_WITH(save_variables(folder.path(), variables, {outside}),
                      Contains("expected the name of a variable as a file"));
    CHECK_THROWS_WITH(load_variables(folder.path(), variables, {outside}),
                      Contains("expected the name of a variable as a file"));
  }
}
