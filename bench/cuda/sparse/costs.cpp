// SPDX-License-Identifier: Apache-2.0
// Draws combs that a planner may consider, and compares each time with its prediction. The values do not
// matter, because kernels take the same steps for any weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "kernels/base/math/smooth.hpp"
#include "sfft/plan/device_memory.hpp"
#include "sfft/plan/plan_executor.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/comb/comb_candidates.hpp"
#include "template/comb/comb_model.hpp"
#include "template/planning/error_table.hpp"
#include "template/planning/witness.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;
using Grid = std::array<std::int64_t, 3>;

/// A drawn case: a stream's shape and batch, the template's size, and a comb's grid and delays.
struct Draw {
  Shape shape{1};
  bool real;
  std::int64_t k;
  int batch;
  Grid grid;
  std::int64_t delays;
};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  /// Draws videos of usual sizes four times out of five, otherwise complex lines of 2^18 to 2^24 points.
  Draw next() {
    static const std::vector<Shape> kVideos{{240, 320}, {360, 640}, {420, 640},  {432, 768},
                                            {480, 640}, {576, 768}, {720, 1280}, {1080, 1920}};
    constexpr int kBatches[] = {1, 8, 32, 128};
    Draw draw;
    do {
      draw.real = below(5) > 0;
      draw.shape = draw.real ? kVideos[below(kVideos.size())] : Shape{std::int64_t{1} << (18 + 2 * below(4))};
      draw.batch = draw.real ? kBatches[below(4)] : 1;
      draw.k = static_cast<std::int64_t>(std::exp(uniform(std::log(64.0), std::log(8000.0))));
      draw.grid = grid(draw.shape);
      draw.delays =
          draw.real ? 2 * (1 + static_cast<std::int64_t>(below(8))) : 2 + static_cast<std::int64_t>(below(9));
      if (below(8) == 0) draw.delays *= 2;
    } while (!is_considered(draw));
    return draw;
  }

  /// Draws k distinct frequencies. For a real signal, these are the mean and others below half of the last
  /// dimension.
  std::vector<std::int64_t> support(const Draw& draw) {
    const std::int64_t row = draw.shape[draw.shape.rank() - 1];
    std::vector<std::int64_t> flat;
    while (static_cast<std::int64_t>(flat.size()) < draw.k) {
      for (std::int64_t i = static_cast<std::int64_t>(flat.size()); i < draw.k; ++i) {
        const auto f = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(draw.shape.points()));
        if (draw.real && (f % row == 0 || 2 * (f % row) >= row)) continue;
        flat.push_back(f);
      }
      std::sort(flat.begin(), flat.end());
      flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
    }
    return flat;
  }

  std::vector<Grid> delays(const Draw& draw) {
    std::vector<Grid> all;
    while (static_cast<std::int64_t>(all.size()) < draw.delays) {
      Grid delay{};
      for (int d = 0; d < draw.shape.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        delay[at] = static_cast<std::int64_t>(below(static_cast<std::size_t>(draw.shape[d] / draw.grid[at])));
      }
      if (std::find(all.begin(), all.end(), delay) == all.end()) all.push_back(delay);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

  Grid grid(const Shape& shape) {
    Grid grid{1, 1, 1};
    for (int d = 0; d < shape.rank(); ++d) {
      std::vector<std::int64_t> sides;
      for (std::int64_t side = 1; side * side <= shape[d]; ++side) {
        if (shape[d] % side != 0) continue;
        for (const std::int64_t both : {side, shape[d] / side}) {
          if (detail::is_smooth(both, 7)) sides.push_back(both);
        }
      }
      grid[static_cast<std::size_t>(d)] = sides[below(sides.size())];
    }
    return grid;
  }

  /// The same conditions as in planners: enough buckets and samples, similar strides, and at most a sixth of
  /// the frame.
  static bool is_considered(const Draw& draw) {
    const std::int64_t buckets = draw.grid[0] * draw.grid[1], members = draw.real ? 2 * draw.k : draw.k;
    const std::int64_t samples = buckets * draw.delays;
    if (buckets < members / (draw.real ? 1 : 4) || buckets < 32 || samples < 2 * members) return false;
    if (samples > std::max<std::int64_t>(draw.shape.points() / 6, 0) || samples > 64 * members + 8192)
      return false;
    if (draw.delays > draw.shape.points() / buckets || draw.delays > detail::CombModel::kMaxDelays)
      return false;
    if (draw.shape.rank() == 1) return true;
    const double a = static_cast<double>(draw.shape[0]) / static_cast<double>(draw.grid[0]),
                 b = static_cast<double>(draw.shape[1]) / static_cast<double>(draw.grid[1]);
    return std::max(a, b) <= 6 * std::min(a, b);
  }

  std::mt19937_64 random_;
};

/// Makes a comb with the tables of a plan with a known tail or, for complex signals, with those for least
/// squares.
detail::CombData comb_of(const Draw& draw, std::vector<Grid> delays) {
  const auto k = static_cast<std::size_t>(draw.k);
  detail::CombData comb;
  comb.shape = draw.shape;
  comb.real = draw.real;
  comb.buckets = draw.grid;
  comb.delays = std::move(delays);
  comb.bucket.assign(k, 0);  // the GPU computes the hashes
  comb.weights.assign(k * comb.delays.size(), 0.5);
  comb.bucket_weight.assign(static_cast<std::size_t>(comb.bucket_count()), 1.0);
  comb.tail_energy_per_scale = 1;
  return comb;
}

}  // namespace

json time_costs(Timer& timer, std::uint64_t seed, int count) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  const DeviceBuffer memory(kMaxBytes);
  gpu(cudaMemset(memory.data(), 1, kMaxBytes));
  Draws draws(seed);
  const int multiprocessors = detail::device_traits(0).multiprocessors;
  json rows = json::array();
  for (int n = 0; n < count; ++n) {
    const Draw draw = draws.next();
    const Template tmpl =
        Template::from_support(draw.shape, draw.real ? Domain::real : Domain::complex, draws.support(draw));
    const detail::TemplateData& data = *detail::data_of(tmpl);
    const detail::SupportSet support(data);
    const detail::CombData comb = comb_of(draw, draws.delays(draw));
    const std::vector<double> some(static_cast<std::size_t>(draw.k), 1e-3);
    const detail::ErrorTable errors = detail::make_error_table(
        support, draw.real ? detail::RowErrors{some, some, some, 1} : detail::RowErrors{some, {}, {}, 1});
    const detail::WitnessData witness = detail::place_witness(support, draw.real, seed);
    const PlanOptions options{.device = Device::gpu(), .batch = draw.batch};
    const auto plan = detail::gpu_executors<float>().comb(comb, {errors, witness, support, data, options});
    const auto workspace = plan->make_workspace(draw.batch, 1);
    const SpectrumBuffers out(draw.k, draw.batch);
    const detail::DeviceFrames frames{memory.data(), draw.real ? ElementType::u8 : ElementType::c64,
                                      draw.batch, 0};
    const Work work = [&](cudaStream_t s) { plan->enqueue(frames, out.view(), nullptr, *workspace, s); };
    detail::CombCost cost{};
    detail::CombRequest request;
    request.cost = [&](const detail::CombCost& of) {
      cost = of;
      return detail::predict_comb_device_us(of, multiprocessors, draw.batch);
    };
    const double predicted = detail::predict_us(support, request, draw.grid, draw.delays);
    Timing timing;
    try {
      timing = timer.warm(work, draw.batch > 8 ? 4 : 16, 11);
    } catch (const std::runtime_error& error) {  // adds the comb to the message
      throw std::runtime_error(fmt::format("{} {}, k = {}, batch {}, {}x{} buckets, {} delays, {}: {}",
                                           draw.shape.to_string(), draw.real ? "real" : "complex", draw.k,
                                           draw.batch, draw.grid[0], draw.grid[1], draw.delays,
                                           plan->describe(), error.what()));
    }
    rows.push_back({{"group", "cost"},
                    {"shape", draw.shape.to_string()},
                    {"real", draw.real},
                    {"k", draw.k},
                    {"batch", draw.batch},
                    {"grid", {draw.grid[0], draw.grid[1]}},
                    {"delays", draw.delays},
                    {"sectors", cost.sectors},
                    {"engine", plan->describe()},
                    {"predicted_us", predicted},
                    {"us", timing.us / draw.batch}});
  }
  return rows;
}

}  // namespace sfft::bench
