# SPDX-License-Identifier: BSD-3-Clause
# gfk_wgmma: the products on warpgroup MMAs, which only machine code for 9.0a has. In a library that
# is not for 9.0 the same files say that there are none. An object library, because no other file
# may be compiled for 9.0a, and because the tests build the library twice.
set(architectures ${CMAKE_CUDA_ARCHITECTURES})
if(architectures STREQUAL "native")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
endif()
add_library(gfk_wgmma OBJECT ${PROJECT_SOURCE_DIR}/src/kernels/product/bmma_wgmma_w32.cu
                             ${PROJECT_SOURCE_DIR}/src/kernels/product/bmma_wgmma_w8.cu)
target_include_directories(gfk_wgmma PRIVATE ${PROJECT_SOURCE_DIR}/include)
foreach(architecture IN LISTS architectures)
  if(architecture MATCHES "^(90a?|all|all-major)(-real|-virtual)?$")
    set_target_properties(gfk_wgmma PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_compile_definitions(gfk_wgmma PRIVATE GFK_HAVE_WGMMA)
    break()
  endif()
endforeach()
if(NOT BUILD_SHARED_LIBS)
  target_compile_definitions(gfk_wgmma PRIVATE GFK_STATIC)
endif()
set_target_properties(
  gfk_wgmma
  PROPERTIES CUDA_RUNTIME_LIBRARY Static
             CXX_VISIBILITY_PRESET hidden
             CUDA_VISIBILITY_PRESET hidden
             POSITION_INDEPENDENT_CODE ON)
gfk_warnings(gfk_wgmma)
