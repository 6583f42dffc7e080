// SPDX-License-Identifier: Apache-2.0
// Queries the cost model, and adds the bus to the times of a GPU for frames in host memory.
#include "sfft/plan/plan_costs.hpp"

#include <algorithm>
#include <limits>

#include "kernels/base/tables/witness_reals.hpp"
#include "sfft/plan/device_memory.hpp"
#include "template/flat/flat_planner.hpp"
#include "template/planning/bursts.hpp"
#include "template/planning/cost_model.hpp"

namespace sfft::detail {

namespace {

/// The search aims at this fraction of a sufficient error, because a rough search underestimates errors.
constexpr double kEnough = 0.95;

}  // namespace

double PlanCosts::dense_us(bool tuned) const {
  if (!on_device_) return predict_dense_us(data_.shape, data_.real);
  const double us = predict_dense_device_us(data_.shape, data_.real, batch(), tuned);
  return from_bus() ? predict_whole_from_host_us(us, frame_bytes(), batch()) : us;
}

double PlanCosts::direct_us() const {
  if (!on_device_) return predict_direct_us(data_.shape.points(), support_.k, data_.real);
  const double us = predict_direct_device_us(data_.shape.points(), support_.k);
  return from_bus() ? predict_whole_from_host_us(us, frame_bytes(), batch()) : us;
}

double PlanCosts::flat_us(const FlatPlanData& flat) const {
  return on_device_ ? with_bus(predict_flat_device_us(flat.taps() * flat.delay_count(), flat.rows()),
                               scattered_bytes(flat.samples))
                    : predicted_us(flat);
}

std::int64_t PlanCosts::witness_blocks() const {
  if (options_.burst == 0) return 1;
  const std::int64_t samples = samples_for_burst(options_.burst, options_.burst_miss);
  const std::int64_t block = data_.real ? kWitnessReals : kWitnessReals / 2;
  return std::max<std::int64_t>(1, (samples + block - 1) / block);
}

double PlanCosts::witness_us() const {
  const std::int64_t more = witness_blocks() - 1;
  return on_device_ ? predict_witness_device_us(more, support_.k) : predict_witness_us(more, support_.k);
}

/// Whether image rows are what crosses the bus.
bool PlanCosts::by_rows() const {
  return from_bus() && data_.shape.rank() == 2 && !prior_.least_squares() &&
         (options_.transfer == PlanOptions::Transfer::automatic ||
          options_.transfer == PlanOptions::Transfer::rows);
}

/// Bytes per element: the reference's if there is one, else those of u8 or complex float samples.
std::int64_t PlanCosts::element() const {
  if (!data_.reference.empty()) return static_cast<std::int64_t>(element_bytes(data_.reference_type));
  return data_.real ? 1 : 8;
}

/// A GPU's time for a frame of which `bytes` cross the bus, if frames are in host memory.
double PlanCosts::with_bus(double us, std::int64_t bytes) const {
  return from_bus() ? predict_from_host_us(us, bytes, batch()) : us;
}

/// Bus bytes for samples that kernels read in place: the bus carries whole sectors.
std::int64_t PlanCosts::scattered_bytes(std::int64_t samples) const {
  constexpr std::int64_t kSector = 32;
  return std::min(frame_bytes(), samples * std::max(kSector, element()));
}

std::int64_t PlanCosts::max_samples(bool by_rows) const {
  return sample_budget(options_.max_samples.value_or(0), data_.shape.points(), support_.k,
                       prior_.least_squares(), by_rows);
}

/// The request for a comb whose frames are in the memory of the backend.
CombRequest PlanCosts::request_there(double limit_us, cpu::ThreadPool* pool) const {
  CombRequest request;
  request.accuracy = prior_.common_scale ? 0 : options_.accuracy;
  request.max_samples = max_samples(false);
  request.epsilon = epsilon_;
  request.limit_us = limit_us;
  request.seed = options_.seed;
  request.pool = pool;
  request.effort = options_.effort;
  if (!on_device_) return request;
  request.time_weight = device_time_weight(batch());
  const int multiprocessors = device_traits(options_.device.gpu_number()).multiprocessors;
  constexpr double kSingle = std::numeric_limits<float>::epsilon();
  const bool compiled = !by_rows() && options_.compiled_for.has_value() && epsilon_ >= kSingle;
  request.cost = [multiprocessors, compiled, batch = batch()](const CombCost& cost) {
    return predict_comb_device_us(cost, multiprocessors, batch, compiled);
  };
  return request;
}

CombRequest PlanCosts::comb_request(double limit_us, cpu::ThreadPool* pool) const {
  CombRequest request = request_there(limit_us, pool);
  if (!from_bus()) return request;
  const bool rows = by_rows();
  request.cost = [this, rows, there = request.cost](const CombCost& cost) {
    return with_bus(there(cost), rows ? cost.bus_bytes : scattered_bytes(cost.samples));
  };
  if (!rows) return request;
  const std::int64_t in_rows =
      std::max(kInRowsPerCoefficient * support_.k, data_.shape.points() / kInRowsDivisor);
  request.max_samples = max_samples(true);
  request.bus = {element(), std::min(frame_bytes(), in_rows * element())};
  request.time_weight = 1;
  return request;
}

CombRequest PlanCosts::search_request(double limit_us, cpu::ThreadPool* pool) const {
  CombRequest request = comb_request(limit_us, pool);
  if (!by_rows() || request.accuracy > 0) return request;
  // Further samples of a row that has crossed the bus cost little, so few rows suffice for the error of a
  // plan for frames in GPU memory. Larger errors are weighted by their third power.
  CombRequest there = request_there(std::numeric_limits<double>::infinity(), pool);
  there.effort = PlanEffort::quick;
  if (const auto error = estimate_comb_error(support_, prior_, there)) {
    request.enough = kEnough * *error;
    request.time_weight = 1.0 / 3;
  }
  return request;
}

}  // namespace sfft::detail
