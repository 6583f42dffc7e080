// SPDX-License-Identifier: Apache-2.0
// SFFT_EXPORT: what the shared library shows.
#pragma once

#include "kernels/base/export.hpp"  // IWYU pragma: export
