// SPDX-License-Identifier: Apache-2.0
// Makes a context on an EGL device, without window, pixel buffer or display server.
#include "bench/technologies/opengl_api.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bench/technologies/dynamic_library.hpp"

namespace sfft::technologies {

namespace {

struct Egl {
  Egl() : library({"libEGL.so.1"}) {
    library.require(get_proc_address, "eglGetProcAddress");
    library.require(initialize, "eglInitialize");
    library.require(terminate, "eglTerminate");
    library.require(bind_api, "eglBindAPI");
    library.require(choose_config, "eglChooseConfig");
    library.require(create_context, "eglCreateContext");
    library.require(destroy_context, "eglDestroyContext");
    library.require(make_current, "eglMakeCurrent");
    library.require(get_error, "eglGetError");
    find(query_devices, "eglQueryDevicesEXT");
    find(query_device_string, "eglQueryDeviceStringEXT");
    find(get_platform_display, "eglGetPlatformDisplayEXT");
    if (query_devices == nullptr || get_platform_display == nullptr)
      throw Failure("EGL cannot list its devices (EGL_EXT_device_enumeration)");
  }
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(get_proc_address(name));
  }

  DynamicLibrary library;
  decltype(&::eglGetProcAddress) get_proc_address = nullptr;
  decltype(&::eglInitialize) initialize = nullptr;
  decltype(&::eglTerminate) terminate = nullptr;
  decltype(&::eglBindAPI) bind_api = nullptr;
  decltype(&::eglChooseConfig) choose_config = nullptr;
  decltype(&::eglCreateContext) create_context = nullptr;
  decltype(&::eglDestroyContext) destroy_context = nullptr;
  decltype(&::eglMakeCurrent) make_current = nullptr;
  decltype(&::eglGetError) get_error = nullptr;
  PFNEGLQUERYDEVICESEXTPROC query_devices = nullptr;
  PFNEGLQUERYDEVICESTRINGEXTPROC query_device_string = nullptr;
  PFNEGLGETPLATFORMDISPLAYEXTPROC get_platform_display = nullptr;
};

const Egl& egl() {
  static const Egl api;
  return api;
}

bool in_software(EGLDeviceEXT device) {
  const char* extensions =
      egl().query_device_string == nullptr ? nullptr : egl().query_device_string(device, EGL_EXTENSIONS);
  return extensions != nullptr &&
         std::string(extensions).find("EGL_MESA_device_software") != std::string::npos;
}

std::vector<EGLDeviceEXT> devices() {
  EGLDeviceEXT all[64] = {};
  EGLint count = 0;
  if (!egl().query_devices(64, all, &count) || count == 0) throw Failure("EGL lists no device");
  std::vector<EGLDeviceEXT> found(all, all + count);
  std::stable_partition(found.begin(), found.end(), [](EGLDeviceEXT device) { return !in_software(device); });
  return found;
}

[[noreturn]] void refuse(const char* call) {
  char code[32];
  std::snprintf(code, sizeof code, "0x%x", static_cast<unsigned>(egl().get_error()));
  throw Failure(std::string(call) + ": EGL error " + code);
}

}  // namespace

bool OpenGlContext::exists(int device) {
  return device < static_cast<int>(devices().size());
}

OpenGlContext::OpenGlContext(int device, Facts& facts) {
  EGLDeviceEXT chosen = devices().at(static_cast<std::size_t>(device));
  display_ = egl().get_platform_display(EGL_PLATFORM_DEVICE_EXT, chosen, nullptr);
  if (display_ == EGL_NO_DISPLAY) refuse("eglGetPlatformDisplayEXT");
  if (!egl().initialize(display_, nullptr, nullptr)) refuse("eglInitialize");
  if (!egl().bind_api(EGL_OPENGL_API)) refuse("eglBindAPI");
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!egl().choose_config(display_, wanted, &config, 1, &count) || count == 0) refuse("eglChooseConfig");
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            4,
                            EGL_CONTEXT_MINOR_VERSION,
                            3,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  context_ = egl().create_context(display_, config, EGL_NO_CONTEXT, version);
  if (context_ == EGL_NO_CONTEXT) refuse("eglCreateContext of OpenGL 4.3");
  if (!egl().make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) refuse("eglMakeCurrent");
#define SFFT_FIND(type, name)                                      \
  gl.name = reinterpret_cast<type>(egl().get_proc_address(#name)); \
  if (gl.name == nullptr) throw Failure("OpenGL has no " #name);
  SFFT_OPENGL_FUNCTIONS(SFFT_FIND)
#undef SFFT_FIND
  egl().find(gl.glGetGraphicsResetStatus, "glGetGraphicsResetStatus");

  const auto text = [this](GLenum what) {
    const auto* found = reinterpret_cast<const char*>(gl.glGetString(what));
    return std::string(found == nullptr ? "" : found);
  };
  const auto number = [this](GLenum what) {
    GLint value = 0;
    gl.glGetIntegerv(what, &value);
    return std::int64_t{value};
  };
  facts.device = text(GL_RENDERER);
  facts.driver = "OpenGL " + text(GL_VERSION);
  facts.gpu = !in_software(chosen);
  facts.limits.group_threads = number(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
  facts.limits.shared_bytes = number(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  GLint64 block = 0;
  gl.glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &block);
  facts.limits.buffer_bytes = block;
  GLint groups = 65535;
  gl.glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
  facts.limits.groups_x = static_cast<std::uint32_t>(groups);
  facts.steps = {"eglQueryDevicesEXT", "eglGetPlatformDisplayEXT", "eglInitialize",  "eglBindAPI",
                 "eglChooseConfig",    "eglCreateContext",         "eglMakeCurrent", "eglGetProcAddress"};
  check("glGetIntegerv");
}

OpenGlContext::~OpenGlContext() {
  egl().make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  egl().destroy_context(display_, context_);
}

void OpenGlContext::check(const char* call) const {
  if (gl.glGetGraphicsResetStatus != nullptr && gl.glGetGraphicsResetStatus() != GL_NO_ERROR)
    throw Failure(std::string(call) + ": the context is lost");
  const GLenum error = gl.glGetError();
  if (error == GL_NO_ERROR) return;
  for (int i = 0; i < 16 && gl.glGetError() != GL_NO_ERROR; ++i) {
  }
  char code[32];
  std::snprintf(code, sizeof code, "0x%x", error);
  throw Failure(std::string(call) +
                (error == GL_OUT_OF_MEMORY ? ": out of memory" : std::string(": error ") + code));
}

}  // namespace sfft::technologies
