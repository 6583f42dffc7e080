// SPDX-License-Identifier: Apache-2.0
// Loads the functions of EGL and OpenGL at run time. The build needs only their headers.
#pragma once

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

#include <string>

#include "bench/technologies/technology.hpp"

#define SFFT_OPENGL_FUNCTIONS(X)                         \
  X(PFNGLGETERRORPROC, glGetError)                       \
  X(PFNGLGETSTRINGPROC, glGetString)                     \
  X(PFNGLGETINTEGERVPROC, glGetIntegerv)                 \
  X(PFNGLGETINTEGERI_VPROC, glGetIntegeri_v)             \
  X(PFNGLGETINTEGER64VPROC, glGetInteger64v)             \
  X(PFNGLGENBUFFERSPROC, glGenBuffers)                   \
  X(PFNGLDELETEBUFFERSPROC, glDeleteBuffers)             \
  X(PFNGLBINDBUFFERPROC, glBindBuffer)                   \
  X(PFNGLBINDBUFFERBASEPROC, glBindBufferBase)           \
  X(PFNGLBINDBUFFERRANGEPROC, glBindBufferRange)         \
  X(PFNGLBUFFERDATAPROC, glBufferData)                   \
  X(PFNGLBUFFERSUBDATAPROC, glBufferSubData)             \
  X(PFNGLGETBUFFERSUBDATAPROC, glGetBufferSubData)       \
  X(PFNGLCREATESHADERPROC, glCreateShader)               \
  X(PFNGLDELETESHADERPROC, glDeleteShader)               \
  X(PFNGLSHADERSOURCEPROC, glShaderSource)               \
  X(PFNGLCOMPILESHADERPROC, glCompileShader)             \
  X(PFNGLGETSHADERIVPROC, glGetShaderiv)                 \
  X(PFNGLGETSHADERINFOLOGPROC, glGetShaderInfoLog)       \
  X(PFNGLCREATEPROGRAMPROC, glCreateProgram)             \
  X(PFNGLDELETEPROGRAMPROC, glDeleteProgram)             \
  X(PFNGLATTACHSHADERPROC, glAttachShader)               \
  X(PFNGLLINKPROGRAMPROC, glLinkProgram)                 \
  X(PFNGLGETPROGRAMIVPROC, glGetProgramiv)               \
  X(PFNGLGETPROGRAMINFOLOGPROC, glGetProgramInfoLog)     \
  X(PFNGLUSEPROGRAMPROC, glUseProgram)                   \
  X(PFNGLDISPATCHCOMPUTEPROC, glDispatchCompute)         \
  X(PFNGLMEMORYBARRIERPROC, glMemoryBarrier)             \
  X(PFNGLGENQUERIESPROC, glGenQueries)                   \
  X(PFNGLQUERYCOUNTERPROC, glQueryCounter)               \
  X(PFNGLGETQUERYOBJECTUI64VPROC, glGetQueryObjectui64v) \
  X(PFNGLFLUSHPROC, glFlush)                             \
  X(PFNGLFINISHPROC, glFinish)

namespace sfft::technologies {

struct OpenGlApi {
#define SFFT_MEMBER(type, name) type name = nullptr;
  SFFT_OPENGL_FUNCTIONS(SFFT_MEMBER)
#undef SFFT_MEMBER
  PFNGLGETGRAPHICSRESETSTATUSPROC glGetGraphicsResetStatus = nullptr;  ///< since OpenGL 4.5
};

/// A context without a display. It is current on the thread that made it, and lives as long as the process.
/// `device` counts EGL's devices, with software devices last.
class OpenGlContext {
 public:
  static bool exists(int device);
  OpenGlContext(int device, Facts& facts);
  ~OpenGlContext();
  OpenGlContext(const OpenGlContext&) = delete;
  OpenGlContext& operator=(const OpenGlContext&) = delete;

  /// Throws Failure with OpenGL's error if one has occurred since the last call.
  void check(const char* call) const;

  OpenGlApi gl;

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

}  // namespace sfft::technologies
