// SPDX-License-Identifier: Apache-2.0
// host (PLUGIN SUFFIX)...: loads all plugins at once, lets each compute and fail, unloads them, and
// says what came of it.
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <lamina/core/messages/error.hpp>

int main(int count, char** arguments) {
  std::vector<void*> plugins;
  for (int i = 1; i + 1 < count; i += 2) {
    plugins.push_back(dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL));
    if (plugins.back() == nullptr) return std::puts(dlerror()), 1;
  }
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string suffix = arguments[i + 1];
    void* const plugin = plugins[static_cast<std::size_t>(i / 2)];
    const auto score = reinterpret_cast<double (*)()>(dlsym(plugin, ("score_" + suffix).c_str()));
    const auto fail = reinterpret_cast<void (*)()>(dlsym(plugin, ("fail_" + suffix).c_str()));
    std::printf("%s %a\n", suffix.c_str(), score());
    try {
      fail();
    } catch (const lamina::error& e) {
      std::printf("%s error\n", suffix.c_str());
    }
  }
  for (int i = 1; i + 1 < count; i += 2) {
    dlclose(plugins[static_cast<std::size_t>(i / 2)]);
    if (dlopen(arguments[i], RTLD_NOW | RTLD_NOLOAD) != nullptr)
      std::printf("%s is still there\n", arguments[i + 1]);
  }
}
