// SPDX-License-Identifier: Apache-2.0
// Libraries that are looked for when the program runs.
#pragma once

#include <string>
#include <vector>

namespace sfft::technologies {

/// Stays loaded until the process ends: drivers do not like to be unloaded.
class DynamicLibrary {
 public:
  /// Loads the first of `names` that there is. Throws Failure that names them and says what the loader said.
  explicit DynamicLibrary(const std::vector<std::string>& names);
  const std::string& name() const { return name_; }

  /// nullptr where the library has no such function.
  void* find(const char* symbol) const;

  /// Throws Failure where it has none.
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
