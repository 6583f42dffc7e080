// SPDX-License-Identifier: Apache-2.0
// Dense FFTs along the dimensions that a process holds completely, and exchanges that make the next dimension
// complete. Slabs: the last dimensions, then the first. Pencils: the last, the second, the first.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sfft/dense.hpp"
#include "sfft/mpi/exchange.hpp"
#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

namespace {

/// Uninitialised memory: values are written before they are read.
template <class Real>
struct Values {
  Bytes bytes;
  explicit Values(std::int64_t count = 0)
      : bytes(static_cast<std::size_t>(count) * sizeof(std::complex<Real>)) {}
  std::complex<Real>* get() const { return reinterpret_cast<std::complex<Real>*>(bytes.data.get()); }
};

/// One step: transforms along the fastest dimensions of a layout, for a whole batch of lines or planes.
template <class Real>
struct Stage {
  Layout layout;                          ///< layout of its values, also of the first stage's signal
  std::optional<dense::Plan<Real>> plan;  ///< none: this process holds nothing
  std::int64_t points = 0;
};

template <class Real>
class BuiltInEngine final : public DistributedEngine<Real> {
 public:
  using Complex = std::complex<Real>;

  BuiltInEngine(std::shared_ptr<Comm> comm, const Problem& problem)
      : comm_(std::move(comm)), real_(problem.real) {
    const auto me = static_cast<std::size_t>(comm_->rank());
    signal_ = problem.signal.boxes[me];
    spectrum_ = problem.spectrum.boxes[me];
    comm_->together([&] {
      const int last = problem.shape.rank() - 1;
      if (problem.decomposition == Decomposition::slabs) {
        add(problem, problem.shared(problem.spectrum_extents, 0, 1), kRowMajor, last);
        add(problem, problem.spectrum.boxes, {1, 2, 0}, 1);
      } else {
        add(problem, problem.shared(problem.spectrum_extents, 0, 1), kRowMajor, 1);
        add(problem, problem.shared(problem.spectrum_extents, 0, 2), {0, 2, 1}, 1);
        add(problem, problem.spectrum.boxes, {1, 2, 0}, 1);
      }
      for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
        forth_.emplace_back(*comm_, stages_[i].layout, stages_[i + 1].layout, sizeof(Complex));
        back_.emplace_back(*comm_, stages_[i + 1].layout, stages_[i].layout, sizeof(Complex));
      }
      allocate();
    });
  }

  void forward(const void* signal, Complex* spectrum) const override {
    const Values<Real>& here = one_;
    const Values<Real>& there = two_;
    comm_->together([&] { transform_first(signal, here); });
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      forth_[i - 1].run(*comm_, here.bytes.data.get(), there.bytes.data.get(), staging_);
      comm_->together([&] {
        const Stage<Real>& stage = stages_[i];
        if (stage.plan)
          stage.plan->forward(there.get(), element_type_of<Complex>::value, {here.get(), size(stage)});
        if (i + 1 == stages_.size()) turn(here.get(), stage.layout.order, spectrum, kRowMajor);
      });
    }
  }

  void inverse(const Complex* spectrum, void* signal) const override {
    const Values<Real>& here = one_;
    const Values<Real>& there = two_;
    comm_->together([&] { turn(spectrum, kRowMajor, there.get(), stages_.back().layout.order); });
    for (std::size_t i = stages_.size() - 1; i > 0; --i) {
      comm_->together([&] {
        const Stage<Real>& stage = stages_[i];
        if (stage.plan)
          stage.plan->inverse(std::span<const Complex>{there.get(), size(stage)},
                              std::span<Complex>{here.get(), size(stage)});
      });
      back_[i - 1].run(*comm_, here.bytes.data.get(), there.bytes.data.get(), staging_);
    }
    comm_->together([&] {
      const Stage<Real>& stage = stages_.front();
      if (!stage.plan) return;
      const std::span<const Complex> values{there.get(), size(stage)};
      const auto points = static_cast<std::size_t>(signal_.points());
      if (real_) {
        stage.plan->inverse(values, std::span<Real>{static_cast<Real*>(signal), points});
      } else {
        stage.plan->inverse(values, std::span<Complex>{static_cast<Complex*>(signal), points});
      }
    });
  }

  std::string name() const override { return fmt::format("built_in ({})", engine_name_); }

  std::string describe() const override {
    std::string text;
    for (std::size_t i = 0; i < forth_.size(); ++i)
      text += fmt::format("exchange {}: this process sends {} bytes to {} others\n", i + 1,
                          forth_[i].bytes_sent(), forth_[i].partners());
    return text;
  }

 private:
  static std::size_t size(const Stage<Real>& stage) { return static_cast<std::size_t>(stage.points); }

  /// `dimensions`: number of dimensions to transform, the fastest ones.
  void add(const Problem& problem, std::vector<Box> boxes, Order order, int dimensions) {
    const bool first = stages_.empty();
    Stage<Real>& stage = stages_.emplace_back();
    stage.layout = {std::move(boxes), order};
    const Box& box = stage.layout.boxes[static_cast<std::size_t>(comm_->rank())];
    stage.points = box.points();
    std::vector<std::int64_t> extents;
    // A 2D shape has a third dimension of 1 at the end.
    const int behind = first ? 3 - problem.shape.rank() : 0;
    for (int i = 3 - behind - dimensions; i < 3 - behind; ++i)
      extents.push_back(problem.signal_extents[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
    const Shape shape{std::span<const std::int64_t>(extents)};
    dense::Options options;
    options.normalization = problem.options.normalization;
    options.planning = problem.options.planning;
    options.threads = problem.options.threads;
    options.engine = dense::Engine::built_in;
    const std::int64_t points = first ? signal_.points() : stage.points;
    if (points == 0) {
      stage.points = 0;
    } else {
      options.batch = points / shape.points();
      stage.plan.emplace(
          dense::Plan<Real>(shape, first && problem.real ? Domain::real : Domain::complex, options));
      if (engine_name_.empty()) engine_name_ = stage.plan->engine_name();
    }
  }

  /// Allocates once for all calls, because fresh pages cost as much as a pass over them.
  void allocate() {
    std::int64_t max = 0;
    for (const Stage<Real>& stage : stages_) max = std::max(max, stage.points);
    one_ = Values<Real>(max);
    two_ = Values<Real>(max);
    for (const Exchange& exchange : forth_) exchange.reserve(staging_);
    for (const Exchange& exchange : back_) exchange.reserve(staging_);
  }

  void transform_first(const void* signal, const Values<Real>& values) const {
    const Stage<Real>& stage = stages_.front();
    const ElementType type = real_ ? element_type_of<Real>::value : element_type_of<Complex>::value;
    if (stage.plan) stage.plan->forward(signal, type, {values.get(), size(stage)});
  }

  /// Reorders this process's part of the spectrum.
  void turn(const Complex* from, const Order& from_order, Complex* to, const Order& to_order) const {
    copy_elements(spectrum_.extent, reinterpret_cast<const std::byte*>(from),
                  strides_of(spectrum_, from_order), reinterpret_cast<std::byte*>(to),
                  strides_of(spectrum_, to_order), sizeof(Complex));
  }

  std::shared_ptr<Comm> comm_;
  bool real_;
  Box signal_, spectrum_;
  std::vector<Stage<Real>> stages_;
  std::vector<Exchange> forth_, back_;
  Values<Real> one_, two_;
  mutable Staging staging_;
  std::string engine_name_;
};

}  // namespace

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_built_in(std::shared_ptr<Comm> comm, const Problem& problem) {
  return std::make_unique<BuiltInEngine<Real>>(std::move(comm), problem);
}
template std::unique_ptr<DistributedEngine<float>> make_built_in(std::shared_ptr<Comm>, const Problem&);
template std::unique_ptr<DistributedEngine<double>> make_built_in(std::shared_ptr<Comm>, const Problem&);

}  // namespace sfft::mpi::detail
