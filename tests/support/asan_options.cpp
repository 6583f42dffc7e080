// SPDX-License-Identifier: Apache-2.0
// Default options of the address sanitizer. A program that links internal code and sfft-video's libraries
// contains sfft::Error twice, once in the shared library, so only definitions of different size are reported.

extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_odr_violation=1";
}
