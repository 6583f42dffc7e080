// SPDX-License-Identifier: Apache-2.0
// Libraries that the program looks for at run time.
#pragma once

#include <string>
#include <vector>

namespace sfft::technologies {

/// Stays loaded until the process ends, because drivers do not unload safely.
class DynamicLibrary {
 public:
  /// Loads the first of `names` that exists. Throws Failure with the names and the loader's message.
  explicit DynamicLibrary(const std::vector<std::string>& names);
  const std::string& name() const { return name_; }

  /// Returns nullptr if the library has no such function.
  void* find(const char* symbol) const;

  /// Throws Failure if the library has no such function.
  template <class Function>
  void require(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(required(symbol));
  }

 private:
  void* required(const char* symbol) const;
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace sfft::technologies
