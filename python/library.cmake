# SPDX-License-Identifier: BSD-3-Clause
# The library, its headers and the program of gfk.files, inside the package: sets GFK_HAVE_CUDA.
set(BUILD_SHARED_LIBS ON)
set(GFK_INSTALL ON)
set(CMAKE_INSTALL_LIBDIR lib)

# ---- kernels --------------------------------------------------------------------------------------
# Kernels take minutes to compile. Where GFK_CUDA is not ON or OFF, they are compiled for the GPUs that are
# here, and not at all without one.
if(NOT "${GFK_CUDA}" MATCHES "^(ON|OFF)$")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE no_gpu)
  string(REGEX MATCHALL "[0-9]+[.][0-9]" capabilities "${capabilities}")
  string(REPLACE "." "" capabilities "${capabilities}")
  if(capabilities AND no_gpu EQUAL 0)
    list(REMOVE_DUPLICATES capabilities)
    list(TRANSFORM capabilities APPEND -real)
    set(GFK_CUDA AUTO)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${capabilities})
    endif()
  else()
    set(GFK_CUDA OFF)
    set(why "there is no GPU here")
  endif()
elseif(NOT GFK_CUDA)
  set(why "GFK_CUDA is OFF")
endif()

# nvcc as scripts/quickstart.sh takes it: the system's, or that of PyPI in build. pip hides its modules from a build.
get_filename_component(repository .. ABSOLUTE)
if(NOT "${GFK_CUDA}" STREQUAL "OFF" AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH python=${Python_EXECUTABLE}
                          bash ${repository}/scripts/nvcc.sh
                  OUTPUT_VARIABLE nvcc OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(nvcc)
    set(ENV{CUDACXX} ${nvcc})
  endif()
endif()

# ---- nothing of this machine in what is built -------------------------------------------------------
set(GFK_PORTABLE ON)
foreach(folder IN ITEMS "${CMAKE_BINARY_DIR}=build" "${repository}=." "${nanobind_ROOT}=nanobind")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${folder}>
                      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${folder}>)
endforeach()

# ---- the library ------------------------------------------------------------------------------------
# gfk.files runs the program, which then needs no library of the machine: xxHash's static archive.
find_library(XXHASH_LIBRARY NAMES libxxhash.a)
if(XXHASH_LIBRARY)
  set(GFK_TOOL ON)
  set(GFK_PAR2 OFF) # needs libraries of the machine
else()
  message(STATUS "gfk: no static library of xxHash, so without gfk.files")
endif()
add_subdirectory(.. gfk)
# A wheel has no links: the file of the library has the soname as its name, and a script of the linker stands for
# the name that -lgfk finds.
get_target_property(soversion gfk SOVERSION)
set_target_properties(gfk PROPERTIES VERSION ${soversion})
file(CONFIGURE OUTPUT libgfk.so CONTENT "INPUT(libgfk.so.${soversion})\n")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libgfk.so DESTINATION lib COMPONENT gfk_development)
get_directory_property(GFK_HAVE_CUDA DIRECTORY .. DEFINITION GFK_HAVE_CUDA)
if(GFK_HAVE_CUDA)
  get_directory_property(CUDAToolkit_ROOT DIRECTORY .. DEFINITION CMAKE_CUDA_COMPILER_TOOLKIT_ROOT)
  include(${repository}/cmake/toolkit.cmake)
  gfk_find_toolkit()
  get_directory_property(architectures DIRECTORY .. DEFINITION CMAKE_CUDA_ARCHITECTURES)
  message(NOTICE "*** gfk: with kernels for ${architectures}")
else()
  if(NOT why)
    set(why "there is no nvcc of 12.8 or newer")
  endif()
  message(NOTICE "*** gfk: NO KERNELS: ${why}, so this package works on arrays in the CPU's memory only.\n"
                 "*** To compile the kernels: pip install . -C cmake.define.GFK_CUDA=ON")
endif()
