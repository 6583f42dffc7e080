// SPDX-License-Identifier: Apache-2.0
// Template is a handle to shared immutable TemplateData; checks of a support and the file format are in
// template/data.
#include "sfft/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sfft/error.hpp"
#include "template/data/template_data.hpp"
#include "template/data/template_file.hpp"

namespace sfft {

Template Template::from_support(const Shape& shape, Domain domain, std::span<const std::int64_t> support) {
  if (support.empty()) throw Error(ErrorCode::invalid_support, "the support is empty: k must be at least 1");
  const bool real = domain == Domain::real;
  auto sorted = std::make_shared<std::vector<std::int64_t>>(support.begin(), support.end());
  std::sort(sorted->begin(), sorted->end());
  detail::check_support(shape, real, *sorted);
  auto data = std::make_shared<detail::TemplateData>();
  data->shape = shape;
  data->real = real;
  data->support = std::move(sorted);
  return Template(std::move(data));
}

Template Template::load(const std::string& path) {
  return Template(std::make_shared<const detail::TemplateData>(detail::read_template(path)));
}

void Template::save(const std::string& path) const {
  detail::write_template(*data_, path);
}

const Shape& Template::shape() const noexcept {
  return data_->shape;
}
Domain Template::domain() const noexcept {
  return data_->domain();
}
std::span<const std::int64_t> Template::support() const noexcept {
  return *data_->support;
}
std::span<const std::complex<double>> Template::values() const noexcept {
  return data_->values;
}
std::span<const double> Template::power() const noexcept {
  return data_->power;
}
double Template::energy_captured() const noexcept {
  return data_->energy_captured;
}
double Template::tail_energy() const noexcept {
  return data_->tail_energy;
}
bool Template::has_reference() const noexcept {
  return !data_->reference.empty();
}
LearnOptions::Method Template::learned_by() const noexcept {
  return data_->learned_by_discovery ? LearnOptions::Method::discovery : LearnOptions::Method::dense;
}
std::string_view Template::why_learned_so() const noexcept {
  return data_->why_learned_so;
}
double Template::learn_seconds() const noexcept {
  return data_->learn_seconds;
}
std::vector<std::string> Template::kept_plans() const {
  std::vector<std::string> lines;
  for (const detail::KeptPlan& plan : data_->plans) lines.push_back(detail::describe(plan, data_->shape));
  return lines;
}
const std::string& Template::kept_plans_problem() const noexcept {
  return data_->plans_problem;
}

}  // namespace sfft
