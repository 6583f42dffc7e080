// SPDX-License-Identifier: Apache-2.0
// Sums frames and their power spectra. The spectrum of the mean frame shows what stays, and its strongest
// frequencies make the template.
#include "video/guard/learning.hpp"

#include <algorithm>

#include "sfft/learn_at.hpp"

namespace sfft::video {

namespace {

template <class T>
void add_rows(const SignalView& frame, std::vector<float>& sum) {
  const std::int64_t width = frame.shape()[1];
  for (std::int64_t row = 0; row < frame.shape()[0]; ++row) {
    const T* from = static_cast<const T*>(frame.data()) + row * frame.stride(0);
    float* to = sum.data() + row * width;
    for (std::int64_t i = 0; i < width; ++i) to[i] += static_cast<float>(from[i]);
  }
}

}  // namespace

Learning::Learning(const Region& region, int k, double max_samples)
    : region_(region),
      k_(k),
      max_samples_(max_samples),
      plan_(Shape{region.height, region.width}, Domain::real),
      samples_(static_cast<std::size_t>(region.width * region.height)),
      power_(plan_.spectrum_points()),
      spectrum_(plan_.spectrum_points()) {}

void Learning::add(const SignalView& frame) {
  if (frame.type() == ElementType::u16) {
    add_rows<std::uint16_t>(frame, samples_);
  } else {
    add_rows<std::uint8_t>(frame, samples_);
  }
  plan_.forward(frame, spectrum_);
  for (std::size_t i = 0; i < power_.size(); ++i) power_[i] += std::norm(spectrum_[i]);
  ++frames_;
}

std::shared_ptr<const Learned> Learning::finish() const {
  const auto scale = 1.0F / static_cast<float>(std::max(1, frames_));
  std::vector<float> mean_frame = samples_;
  for (float& sample : mean_frame) sample *= scale;
  std::vector<float> power = power_;
  for (float& p : power) p *= scale;
  const Shape shape{region_.height, region_.width};
  const SignalView view(mean_frame, shape);
  std::vector<std::complex<float>> spectrum(plan_.spectrum_points());
  plan_.forward(view, spectrum);

  Layout layout = make_layout(region_, spectrum, power, k_);
  PlanOptions options;
  options.device = Device::cpu();
  options.path = Path::automatic;
  options.use_reference = false;
  if (max_samples_ > 0) options.max_samples = max_samples_;
  const Template tmpl = learn_at(view, layout.support);
  auto learned = std::make_shared<Learned>(
      Learned{std::move(layout), Plan<float>(tmpl, options), {}, {}, {}, std::move(mean_frame)});
  for (const std::complex<double>& value : tmpl.values()) learned->mean.emplace_back(value);
  for (const Frequency& f : learned->layout.frequencies) {
    const std::int64_t row = f.y < 0 ? f.y + region_.height : f.y;
    const auto i = static_cast<std::size_t>(row * (region_.width / 2 + 1) + f.x);
    const float steady = power[i] > 0 ? std::norm(spectrum[i]) / power[i] : 0.0F;
    learned->weights.push_back(std::clamp(2 * steady - 1, 0.0F, 1.0F));
  }
  const Spectrum<float> aliased = learned->plan.execute(SignalView(learned->mean_frame, shape));
  for (std::size_t i = 0; i < learned->mean.size(); ++i)
    learned->correction.push_back(learned->mean[i] - aliased.values[i]);
  return learned;
}

}  // namespace sfft::video
