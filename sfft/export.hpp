// SPDX-License-Identifier: Apache-2.0
// SFFT_EXPORT, the only macro of the public headers, marks the symbols that a shared library exports.
#pragma once

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
