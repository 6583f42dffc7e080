// SPDX-License-Identifier: Apache-2.0
// SFFT_EXPORT, the only macro of the public headers, marks the symbols that a shared library exports.
// A program compiled with different container or string settings than the library does not link, and the name
// that is missing says why. It is also missing from a program that does not link the library at all.
#pragma once

#include <cstddef>  // macros of the standard library

#if defined(SFFT_STATIC)
#define SFFT_EXPORT
#elif defined(_WIN32)
#if defined(SFFT_BUILDING)
#define SFFT_EXPORT __declspec(dllexport)
#else
#define SFFT_EXPORT __declspec(dllimport)
#endif
#else
#define SFFT_EXPORT __attribute__((visibility("default")))
#endif

// Option structs hold standard containers and strings, whose layout depends on these macros. The library
// defines the functions of the configuration that it was built in, and each program references the one for
// its own.
#if defined(__GLIBCXX__)
#if __has_cpp_attribute(gnu::retain)  // also by linkers that drop unused sections
#define SFFT_KEPT [[gnu::used, gnu::retain, gnu::visibility("hidden")]]
#else
#define SFFT_KEPT [[gnu::used, gnu::visibility("hidden")]]
#endif
namespace sfft::detail {

#if defined(_GLIBCXX_DEBUG)
SFFT_EXPORT void sfft_must_be_built_with_GLIBCXX_DEBUG_because_this_program_is() noexcept;
SFFT_KEPT inline void (*const kDebugContainers)() noexcept =
    &sfft_must_be_built_with_GLIBCXX_DEBUG_because_this_program_is;
#else
SFFT_EXPORT void sfft_must_be_built_without_GLIBCXX_DEBUG_because_this_program_is() noexcept;
SFFT_KEPT inline void (*const kContainers)() noexcept =
    &sfft_must_be_built_without_GLIBCXX_DEBUG_because_this_program_is;
#endif

#if _GLIBCXX_USE_CXX11_ABI
SFFT_EXPORT void sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_1_because_this_program_is() noexcept;
SFFT_KEPT inline void (*const kCxx11Strings)() noexcept =
    &sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_1_because_this_program_is;
#else
SFFT_EXPORT void sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_0_because_this_program_is() noexcept;
SFFT_KEPT inline void (*const kOldStrings)() noexcept =
    &sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_0_because_this_program_is;
#endif

}  // namespace sfft::detail
#undef SFFT_KEPT
#endif
