// SPDX-License-Identifier: Apache-2.0
// Times the copies alone; the plan's overlapped transform; and copy, transform and copy one after another.
// Memory is page-locked or pageable.
#include <fmt/format.h>

#include "bench/cuda/dense/groups.hpp"
#include "bench/cuda/dense/library.hpp"
#include "bench/cuda/dense/reference.hpp"
#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/timing.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;
using Value = std::complex<float>;

dense::Plan<float> plan_of(const DenseCase& what, dense::Options::Planning planning, json& row) {
  dense::Options options = library_options(what, dense::Engine::tuned, planning);
  const Shape shape(what.problem.extents);
  try {
    return {shape, Domain::complex, options};
  } catch (const std::exception& error) {
    row["missing"]["tuned"].push_back(error.what());
  }
  options.engine = dense::Engine::automatic;
  return {shape, Domain::complex, options};
}

/// The host and device memory of one case, and two streams for simultaneous copies in both directions.
class HostCubes {
 public:
  explicit HostCubes(const DenseCase& what)
      : problem_(what.problem),
        input_(what),
        in_(problem_.input_bytes()),
        out_(problem_.output_bytes()),
        device_in_(in_.bytes()),
        device_out_(out_.bytes()) {
    for (cudaStream_t& stream : streams_) gpu(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    gpu(cudaMemcpy(in_.data(), input_.of_peers(), in_.bytes(), cudaMemcpyDeviceToHost));
  }
  ~HostCubes() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  HostCubes(const HostCubes&) = delete;
  HostCubes& operator=(const HostCubes&) = delete;

  void copy_in(cudaStream_t stream) {
    gpu(cudaMemcpyAsync(device_in_.data(), in_.data(), in_.bytes(), cudaMemcpyHostToDevice, stream));
  }
  void copy_out(const void* from, cudaStream_t stream) {
    gpu(cudaMemcpyAsync(out_.data(), from, out_.bytes(), cudaMemcpyDeviceToHost, stream));
  }

  void time_copies(json& row) {
    const auto wait = [&] {
      for (cudaStream_t stream : streams_) gpu(cudaStreamSynchronize(stream));
    };
    row["copy_in_us"] = wall_us([&] {
      copy_in(streams_[0]);
      wait();
    });
    row["copy_out_us"] = wall_us([&] {
      copy_out(device_out_.data(), streams_[0]);
      wait();
    });
    row["copies_at_once_us"] = wall_us([&] {
      copy_in(streams_[0]);
      copy_out(device_out_.data(), streams_[1]);
      wait();
    });
  }

  void time_plan(const dense::Plan<float>& plan, json& row) {
    const PinnedBuffer scratch(plan.workspace_bytes());
    const std::span<std::byte> host_workspace{scratch.data(), scratch.bytes()};
    const std::span<Value> spectra{out_.as<Value>(), plan.spectrum_points()};
    const auto forward = [&] { plan.forward(in_.data(), ElementType::c64, spectra, host_workspace); };
    row["forward_us"] = wall_us(forward);
    add_accuracy(row);
    const DeviceBuffer workspace(plan.device_workspace_bytes());
    row["in_turn_us"] = wall_us([&] {
      copy_in(streams_[0]);
      plan.enqueue_forward(device_in_.data(), ElementType::c64, device_out_.as<Value>(),
                           {workspace.data(), workspace.bytes()}, streams_[0]);
      copy_out(device_out_.data(), streams_[0]);
      gpu(cudaStreamSynchronize(streams_[0]));
    });
    const std::vector<Value> signal(in_.as<Value>(), in_.as<Value>() + plan.signal_points());
    std::vector<Value> result(plan.spectrum_points());
    row["forward_pageable_us"] =
        wall_us([&] { plan.forward(signal.data(), ElementType::c64, result, host_workspace); });
  }

  void time_cufft(json& row) {
    const auto peer = make_cufft(problem_);
    peer->load(device_in_.data(), streams_[0]);
    row["cufft_in_turn_us"] = wall_us([&] {
      copy_in(streams_[0]);
      peer->enqueue(streams_[0]);
      copy_out(peer->result(), streams_[0]);
      gpu(cudaStreamSynchronize(streams_[0]));
    });
  }

 private:
  void add_accuracy(json& row) {
    const Reference reference(problem_, input_);
    gpu(cudaMemcpy(device_out_.data(), out_.data(), out_.bytes(), cudaMemcpyHostToDevice));
    const Accuracy found = reference.accuracy(device_out_.data(), problem_.output_row_reals());
    row["relative_l2"] = found.relative_l2;
    row["direct_l2"] = found.direct;
    row["correct"] = found.within(Reference::tolerance(problem_));
  }

  PeerProblem problem_;
  DenseInput input_;
  PinnedBuffer in_, out_;
  DeviceBuffer device_in_, device_out_;
  cudaStream_t streams_[2] = {};
};

}  // namespace

std::string host_cubes_name(std::int64_t n, std::int64_t batch) {
  return fmt::format("3D C2C {}^3 in host memory, batch {}", n, batch);
}

json time_host_cubes(std::int64_t n, std::int64_t batch, const DenseSettings& settings) {
  DenseCase what;
  what.problem = {.extents = {n, n, n}, .batch = batch};
  json row{{"group", "host"}, {"name", host_cubes_name(n, batch)}, {"n", n}, {"batch", batch}};
  const dense::Plan<float> plan = plan_of(what, settings.planning, row);
  row["engine"] = dense::to_string(plan.engine());
  row["engine_name"] = plan.engine_name();
  HostCubes cubes(what);
  cubes.time_copies(row);
  cubes.time_plan(plan, row);
  cubes.time_cufft(row);
  const double forward = row["forward_us"].get<double>();
  row["gflops"] = what.operations() / forward * 1e-3;
  row["ratio"] = row["in_turn_us"].get<double>() / forward;
  row["ratio_cufft"] = row["cufft_in_turn_us"].get<double>() / forward;
  return row;
}

}  // namespace sfft::bench
