// SPDX-License-Identifier: Apache-2.0
// One signal in GPU memory, and the stream in which its samples are ready.
#pragma once

#include "sfft/device.hpp"

namespace sfft::detail {

/// A DeviceView of one signal, with its stream.
struct DeviceSignal {
  const void* data;
  ElementType type;
  Shape shape;
  int device = 0;
  CUstream_st* stream = nullptr;
};

/// Throws invalid_argument for a null pointer, an unknown type and any number of signals but one.
DeviceSignal checked_signal(const DeviceView& view, CUstream_st* stream, const char* what);

}  // namespace sfft::detail
