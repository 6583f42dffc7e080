// SPDX-License-Identifier: Apache-2.0
// Internal access to a Template's data.
#pragma once

#include <memory>
#include <utility>

#include "sfft/template.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

struct TemplateAccess {
  static const std::shared_ptr<const TemplateData>& data_of(const Template& tmpl) noexcept {
    return tmpl.data_;
  }
  static Template make(std::shared_ptr<const TemplateData> data) { return Template(std::move(data)); }
};

inline const std::shared_ptr<const TemplateData>& data_of(const Template& tmpl) noexcept {
  return TemplateAccess::data_of(tmpl);
}
inline Template make_template(std::shared_ptr<const TemplateData> data) {
  return TemplateAccess::make(std::move(data));
}

}  // namespace sfft::detail
