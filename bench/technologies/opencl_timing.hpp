// SPDX-License-Identifier: Apache-2.0
// Times the work that a library enqueues into an OpenCL queue.
#pragma once

#include "bench/technologies/clock.hpp"
#include "bench/technologies/opencl_api.hpp"

namespace sfft::technologies {

/// Calls enqueue() between two markers, and waits for the enqueued work.
template <class Enqueue>
Sample timed(cl_command_queue queue, const Enqueue& enqueue) {
  const Stopwatch watch;
  cl_event first = nullptr, last = nullptr;
  opencl(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &first), "clEnqueueMarkerWithWaitList");
  enqueue();
  opencl(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &last), "clEnqueueMarkerWithWaitList");
  opencl(clFlush(queue), "clFlush");
  Sample sample;
  sample.submit_us = watch.us();
  opencl(clFinish(queue), "clFinish");
  sample.wall_us = watch.us();
  sample.device_us = OpenClQueue::span_us(first, last);
  return sample;
}

}  // namespace sfft::technologies
