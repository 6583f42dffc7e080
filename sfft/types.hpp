// SPDX-License-Identifier: Apache-2.0
// Shapes, element types, views of samples: the vocabulary of every function of the library.
#pragma once

#include "kernels/base/types.hpp"  // IWYU pragma: export
