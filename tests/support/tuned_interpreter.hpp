// SPDX-License-Identifier: Apache-2.0
// Interprets programs of the tuned engine on the CPU, in double and by definition. Line by line, it reads and
// writes memory as device/tile.cuh, device/tile_fft.cuh and run/executable.cpp do.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "kernels/dense/tuned/plan/program.hpp"
#include "tests/support/half_spectra.hpp"
#include "tests/support/tuned_launches.hpp"
#include "tests/support/tuned_memory.hpp"

namespace sfft::test {

class TunedInterpreter {
 public:
  using Value = std::complex<double>;
  using Values = std::vector<Value>;

  /// `input` and `output` may be the same. Throws std::logic_error for anything that would go wrong on a GPU.
  TunedInterpreter(const detail::tuned::Program& program, TunedMemory& input, TunedMemory& output)
      : program_(program), input_(input), output_(output), scratch_("scratch", program.scratch_values) {}

  /// The steps lead from one transform to the next, in elements; they are only for programs that run once per
  /// transform.
  void run(std::int64_t batch, double scale, std::int64_t input_step, std::int64_t output_step,
           StreamOrder order) {
    scale_ = scale;
    batch_ = program_.one_by_one ? 1 : batch;
    for (std::int64_t b = 0; b < (program_.one_by_one ? batch : 1); ++b, ++run_) {
      input_at_ = b * input_step;
      output_at_ = b * output_step;
      const std::vector<TunedLaunch> launches = launches_of(program_, order);
      for (const TunedLaunch& launch : launches) run(launch);
      phase_ += launches.back().phase + 1;
    }
  }
  /// Whether `kernel`, a LineAccess::kernel, is the last kernel of a transform.
  bool is_last_kernel(int kernel) const { return kernel >= 0 && (kernel + 1) % kernels() == 0; }

 private:
  /// A line, or one of a pair of mirrored rows.
  struct Line {
    std::int64_t group, outer, inner;
    bool mirrored = false;
    LineAccess by;
  };

  int kernels() const { return static_cast<int>(program_.kernels.size()); }

  void run(const TunedLaunch& launch) {
    step_ = &program_.kernels[launch.kernel].step;
    const detail::tuned::Step& s = *step_;
    const bool pairs = paired();
    if (s.out.buffer == detail::tuned::Buffer::input) throw std::logic_error("a kernel writes its input");
    if (pairs && s.policy.transforms_per_block % 2 != 0)
      throw std::logic_error("mirrored rows in tiles of an odd number");
    if (s.load_interleaved != s.store_interleaved && s.policy.radices.size() < 2)
      throw std::logic_error("no exchange between threads of points and threads of lines");
    Line line{};
    line.by = {phase_ + launch.phase, launch.stream, run_ * kernels() + static_cast<int>(launch.kernel),
               launch_++, 0};
    // Without `inner`, the lines of the whole batch form one group.
    const std::int64_t inner = s.inner > 0 ? s.inner : batch_, groups = s.inner > 0 ? launch.groups : 1;
    for (std::int64_t g = 0; g < groups; ++g) {
      line.group = s.inner > 0 ? launch.first + g : 0;
      for (line.outer = 0; line.outer < s.outer; ++line.outer) {
        for (std::int64_t i = 0; i < (pairs ? inner / 2 : inner); ++i, ++line.by.line) {
          line.inner = i;
          line.mirrored = false;
          Line mirror = line;
          mirror.mirrored = true;
          pairs ? run_pair(line, mirror) : run_line(line);
        }
      }
    }
  }

  bool paired() const {
    using enum detail::tuned::Form;
    return step_->mirror_rows > 0 && (step_->in.form == half_pairs || step_->out.form == half_pairs);
  }
  void run_line(const Line& line) {
    Values x = load(line);
    if (step_->in.form == detail::tuned::Form::half_pairs) {
      x[0] = x[0].real();  // imaginary parts that real signals do not have are ignored
      x.back() = x.back().real();
      x = packed_real(x, x);
    }
    const Values y = transformed(line, x);
    store(line, step_->out.form == detail::tuned::Form::half_pairs ? unpacked_real(y, y) : y);
  }
  void run_pair(const Line& line, const Line& mirror) {
    Values x = load(line), m = load(mirror);
    if (step_->in.form == detail::tuned::Form::half_pairs) {
      const Values z = packed_real(x, m);
      m = packed_real(m, x);
      x = z;
    }
    const Values y = transformed(line, x), w = transformed(mirror, m);
    const bool half = step_->out.form == detail::tuned::Form::half_pairs;
    store(line, half ? unpacked_real(y, w) : y);
    store(mirror, half ? unpacked_real(w, y) : w);
  }

  Values transformed(const Line& line, Values x) {
    if (step_->swap_in) exchange_parts(x);
    const auto n = static_cast<std::size_t>(step_->points);
    Values& w = roots_[step_->points];
    for (std::size_t j = w.size(); j < n; ++j) w.push_back(root_of_one(j, n));
    Values y(n);
    const detail::tuned::StepTwiddle& twiddle = step_->twiddle;
    const std::int64_t v =
        line.group * twiddle.group + line.outer * twiddle.outer + line.inner * twiddle.inner;
    // In two dimensions inputs are d1·n2 + d2 and outputs k1·n2 + k2; one dimension has n1 = 1.
    const auto n1 = static_cast<std::size_t>(std::max(step_->rows, 1)), n2 = n / n1;
    for (std::size_t k = 0; k < n; ++k) {
      double re = 0, im = 0;
      const Value* in = x.data();
      const std::size_t step = k % n2 * n1;
      for (std::size_t d1 = 0; d1 < n1; ++d1) {
        std::size_t at = d1 * (k / n2) * n2 % n;
        for (std::size_t d2 = 0; d2 < n2; ++d2, ++in) {
          re += in->real() * w[at].real() - in->imag() * w[at].imag();
          im += in->real() * w[at].imag() + in->imag() * w[at].real();
          at += step;
          if (at >= n) at -= n;
        }
      }
      y[k] = {re, im};
      if (twiddle.modulus > 0) {
        const std::int64_t exponent = v * static_cast<std::int64_t>(step_->rows > 0 ? k / n2 : k);
        if (exponent < 0 || exponent >= twiddle.modulus)
          throw std::logic_error("a twiddle factor beyond its tables");
        y[k] *= root_of_one(static_cast<std::size_t>(exponent), static_cast<std::size_t>(twiddle.modulus));
      }
    }
    if (step_->swap_out) exchange_parts(y);
    if (step_->scale) {
      for (Value& value : y) value *= scale_;
    }
    return y;
  }
  static void exchange_parts(Values& values) {
    for (Value& value : values) value = {value.imag(), value.real()};
  }

  TunedMemory& memory(const detail::tuned::Side& side) {
    using enum detail::tuned::Buffer;
    return side.buffer == input ? input_ : (side.buffer == output ? output_ : scratch_);
  }
  static std::int64_t at(const detail::tuned::Digits& digits, std::int64_t i) {
    if (digits.fold == 0) return i * digits.stride;
    return i % digits.fold * digits.stride + i / digits.fold * digits.over;
  }
  /// Offset of element j of a line, or of the line that mirrors it.
  std::int64_t offset(const detail::tuned::Side& side, const Line& line, std::int64_t j,
                      bool mirrored) const {
    std::int64_t group = line.group, outer = line.outer, row = line.inner;
    if (side.ring_groups > 0) group %= side.ring_groups;
    if (mirrored && step_->mirror_rows > 0) {
      row = row == 0 ? 0 : step_->mirror_rows - row;
      outer = outer == 0 ? 0 : step_->mirror_planes - outer;
    }
    using enum detail::tuned::Buffer;
    const std::int64_t start = side.buffer == input ? input_at_ : (side.buffer == output ? output_at_ : 0);
    return start + side.base + group * side.group + outer * side.outer + at(side.inner, row) +
           at(side.element, j);
  }
  /// Offset of the second sample of a pair.
  std::int64_t partner(std::int64_t at) const {
    if (step_->vector && (step_->pair_stride != 1 || at % 2 != 0))
      throw std::logic_error("a pair that is no aligned vector");
    return at + step_->pair_stride;
  }

  Values load(const Line& line) {
    using enum detail::tuned::Form;
    const detail::tuned::Side& side = step_->in;
    TunedMemory& from = memory(side);
    const std::int64_t n = step_->points;
    Values x;
    for (std::int64_t j = 0; j < (side.form == half_pairs ? n + 1 : n); ++j) {
      const bool other_half = side.form == half && 2 * j > n;
      const bool mirrored = other_half || (paired() && line.mirrored);
      const std::int64_t at = offset(side, line, other_half ? n - j : j, mirrored);
      const Value value = from.read(at, line.by);
      if (side.form == pairs) {
        x.emplace_back(value.real(), from.read(partner(at), line.by).real());
      } else {
        x.push_back(side.form == real ? value.real() : (other_half ? std::conj(value) : value));
      }
    }
    return x;
  }

  void store(const Line& line, const Values& y) {
    using enum detail::tuned::Form;
    const detail::tuned::Side& side = step_->out;
    TunedMemory& to = memory(side);
    const std::int64_t n = step_->points;
    const auto count = static_cast<std::int64_t>(y.size());
    for (std::int64_t j = 0; j < (side.form == half ? n / 2 + 1 : count); ++j) {
      const Value value = y[static_cast<std::size_t>(j)];
      const std::int64_t at = offset(side, line, j, paired() && line.mirrored);
      // Two lines write each row that mirrors itself, or whose mirror row belongs to another pair.
      const auto write = [&](std::int64_t element, Value v) {
        to.write(element, v, line.by, side.ring_groups == 0, paired());
      };
      write(at, side.form == pairs || side.form == real ? value.real() : value);
      if (side.form == pairs) write(partner(at), value.imag());
    }
  }

  const detail::tuned::Program& program_;
  TunedMemory &input_, &output_;
  TunedMemory scratch_;
  const detail::tuned::Step* step_ = nullptr;
  std::map<int, Values> roots_;
  double scale_ = 1;
  std::int64_t batch_ = 1, input_at_ = 0, output_at_ = 0;
  int phase_ = 0, launch_ = 0, run_ = 0;
};

}  // namespace sfft::test
