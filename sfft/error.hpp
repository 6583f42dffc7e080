// SPDX-License-Identifier: Apache-2.0
// The exception that the library throws, and its error codes.
#pragma once

#include "kernels/base/error.hpp"  // IWYU pragma: export
