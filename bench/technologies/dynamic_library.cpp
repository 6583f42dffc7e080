// SPDX-License-Identifier: Apache-2.0
// Wraps dlopen, and reports reasons for failures.
#include "bench/technologies/dynamic_library.hpp"

#include <dlfcn.h>

#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
  std::string reasons;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    const char* reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : name.c_str());
  }
  throw Failure(reasons);
}

void* DynamicLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

void* DynamicLibrary::required(const char* symbol) const {
  void* found = find(symbol);
  if (found == nullptr) throw Failure(name_ + " has no " + symbol);
  return found;
}

}  // namespace sfft::technologies
