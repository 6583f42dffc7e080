// SPDX-License-Identifier: Apache-2.0
// OpenGL's compute shaders: the driver compiles GLSL. Arrays are storage buffers, barriers separate launches,
// and time stamps measure them.
#include <array>
#include <cstring>
#include <map>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/kernel_sources.hpp"
#include "bench/technologies/opengl_api.hpp"

namespace sfft::technologies {

namespace {

class OpenGlPort final : public Port {
 public:
  explicit OpenGlPort(int device) : context_(device, facts_), gl_(context_.gl) {
    for (const char* call :
         {"glCreateShader", "glShaderSource", "glCompileShader", "glCreateProgram", "glAttachShader",
          "glLinkProgram", "glGenBuffers", "glBufferData", "glBufferSubData", "glUseProgram",
          "glBindBufferBase", "glBindBufferRange", "glDispatchCompute", "glMemoryBarrier"}) {
      step(call);
    }
    gl_.glGenQueries(2, queries_);
    gl_.glGenBuffers(1, &parameters_);
    GLint alignment = 256;
    gl_.glGetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &alignment);
    const auto unit = static_cast<std::size_t>(alignment);
    stride_ = (sizeof(Parameters) + unit - 1) / unit * unit;
  }
  void upload(const Complex* signal) override {
    gl_.glBindBuffer(GL_SHADER_STORAGE_BUFFER, array(Array::input));
    gl_.glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, static_cast<GLsizeiptr>(bytes()), signal);
    gl_.glFinish();
    context_.check("glBufferSubData");
  }
  void download(Complex* spectrum) override {
    gl_.glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    gl_.glBindBuffer(GL_SHADER_STORAGE_BUFFER, array(Array::result));
    gl_.glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, static_cast<GLsizeiptr>(bytes()), spectrum);
    context_.check("glGetBufferSubData");
  }
  Sample run() override {
    const Stopwatch watch;
    gl_.glQueryCounter(queries_[0], GL_TIMESTAMP);
    for (std::size_t i = 0; i < schedule_.size(); ++i) enqueue(schedule_[i], i);
    gl_.glQueryCounter(queries_[1], GL_TIMESTAMP);
    gl_.glFlush();
    Sample sample;
    sample.submit_us = watch.us();
    gl_.glFinish();
    sample.wall_us = watch.us();
    GLuint64 times[2] = {};
    for (int i = 0; i < 2; ++i) gl_.glGetQueryObjectui64v(queries_[i], GL_QUERY_RESULT, &times[i]);
    sample.device_us = 1e-3 * static_cast<double>(times[1] - times[0]);
    context_.check("glDispatchCompute");
    return sample;
  }

 private:
  using Programs = std::array<GLuint, kKernels>;
  GLuint array(Array array) const { return arrays_[static_cast<int>(array)]; }

  GLuint compile(const Setting& setting, int kernel) const {
    // The version must come first.
    const std::string text = kernel_source(
        "kernels.glsl",
        "#version 430 core\n" + defines(setting, {"FFT_GLSL", "FFT_KERNEL " + std::to_string(kernel)}));
    const char* source = text.c_str();
    const GLuint shader = gl_.glCreateShader(GL_COMPUTE_SHADER);
    gl_.glShaderSource(shader, 1, &source, nullptr);
    gl_.glCompileShader(shader);
    GLint fine = GL_FALSE;
    char log[2048] = {};
    gl_.glGetShaderiv(shader, GL_COMPILE_STATUS, &fine);
    if (fine == GL_FALSE) {
      gl_.glGetShaderInfoLog(shader, sizeof log - 1, nullptr, log);
      gl_.glDeleteShader(shader);
      throw Failure(std::string("the driver does not compile the kernels: ") + log);
    }
    const GLuint program = gl_.glCreateProgram();
    gl_.glAttachShader(program, shader);
    gl_.glLinkProgram(program);
    gl_.glDeleteShader(shader);
    gl_.glGetProgramiv(program, GL_LINK_STATUS, &fine);
    if (fine == GL_FALSE) {
      gl_.glGetProgramInfoLog(program, sizeof log - 1, nullptr, log);
      gl_.glDeleteProgram(program);
      throw Failure(std::string("the driver does not link the kernels: ") + log);
    }
    return program;
  }
  void build(const Setting& setting) override {
    const auto key = std::make_tuple(setting.threads, setting.tile, setting.built_in_sincos);
    auto found = built_.find(key);
    if (found == built_.end()) {
      Programs programs{};
      for (int i = 0; i < kKernels; ++i) programs[static_cast<std::size_t>(i)] = compile(setting, i);
      found = built_.emplace(key, programs).first;
    }
    programs_ = found->second;
    context_.check("glLinkProgram");
  }
  void allocate(std::int64_t bytes) override {
    gl_.glDeleteBuffers(kArrays, arrays_);
    gl_.glGenBuffers(kArrays, arrays_);
    for (const GLuint buffer : arrays_) {
      gl_.glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
      gl_.glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_DYNAMIC_COPY);
      context_.check("glBufferData");
    }
  }
  void record() override {
    std::vector<char> all(stride_ * schedule_.size());
    for (std::size_t i = 0; i < schedule_.size(); ++i)
      std::memcpy(all.data() + i * stride_, &schedule_[i].parameters, sizeof(Parameters));
    gl_.glBindBuffer(GL_UNIFORM_BUFFER, parameters_);
    gl_.glBufferData(GL_UNIFORM_BUFFER, static_cast<GLsizeiptr>(all.size()), all.data(), GL_STATIC_DRAW);
    context_.check("glBufferData");
  }
  void enqueue(const Launch& launch, std::size_t number) const {
    gl_.glUseProgram(programs_[static_cast<std::size_t>(launch.kernel)]);
    gl_.glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, array(launch.source));
    gl_.glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, array(launch.target));
    gl_.glBindBufferRange(GL_UNIFORM_BUFFER, 2, parameters_, static_cast<GLintptr>(number * stride_),
                          sizeof(Parameters));
    gl_.glDispatchCompute(launch.parameters.groups_x, launch.groups_y(), 1);
    gl_.glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  }

  OpenGlContext context_;
  const OpenGlApi& gl_;
  GLuint arrays_[kArrays] = {}, parameters_ = 0, queries_[2] = {};
  std::size_t stride_ = 256;
  std::map<std::tuple<int, int, bool>, Programs> built_;
  Programs programs_{};
};

}  // namespace

std::unique_ptr<Technology> open_opengl(int device) {
  if (!OpenGlContext::exists(device)) return nullptr;
  return std::make_unique<OpenGlPort>(device);
}

}  // namespace sfft::technologies
