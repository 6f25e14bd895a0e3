# SPDX-License-Identifier: BSD-3-Clause
# How the library is put together; src/CMakeLists.txt names the object libraries.

# What every part of the library is compiled with.
function(gfk_library_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # POSIX, and sched_getaffinity.
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  set_target_properties(
    ${target}
    PROPERTIES C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               CUDA_VISIBILITY_PRESET hidden
               CUDA_RUNTIME_LIBRARY Static
               POSITION_INDEPENDENT_CODE ON)
  # A quarter of the size for four architectures. Drivers of CUDA 13 read it; an nvcc of CUDA 12 may
  # meet an older one.
  if(GFK_HAVE_CUDA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
  gfk_warnings(${target})
  # Every call runs on a stack of 64 KiB (tests/stack): no function takes more than 28 KiB.
  if(NOT GFK_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=28672>)
  endif()
endfunction()

# gfk_objects(NAME): an object library. The folders add their files by target_sources.
function(gfk_objects name)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL)
  gfk_library_settings(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(${name} PRIVATE GFK_STATIC)
  endif()
endfunction()

# gfk_add_library(TARGET): the library, from the object libraries and the lists of rows.
function(gfk_add_library target)
  set(host ${PROJECT_SOURCE_DIR}/src/host)
  add_library(
    ${target}
    ${host}/region/registry.c ${host}/product/registry.c ${PROJECT_SOURCE_DIR}/src/kernels/list.c
    $<TARGET_OBJECTS:gfk_base> $<TARGET_OBJECTS:gfk_host>)
  gfk_library_settings(${target})
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  if(GFK_HAVE_CUDA)
    target_sources(
      ${target}
      PRIVATE ${host}/device/device_cuda.c
              $<TARGET_OBJECTS:gfk_kernels>
              $<TARGET_OBJECTS:gfk_wgmma>)
    target_compile_definitions(${target} PRIVATE GFK_HAVE_CUDA $<$<BOOL:${GFK_HAVE_CLMAD}>:GFK_HAVE_CLMAD>)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  else()
    target_sources(${target} PRIVATE ${host}/device/device_none.c
                                     ${PROJECT_SOURCE_DIR}/src/kernels/none.c)
  endif()
  if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(${target} PUBLIC GFK_STATIC)
    if(GFK_HAVE_CUDA) # the launchers are C++, and the consumer may be C
      target_link_libraries(${target} INTERFACE $<LINK_ONLY:stdc++>)
    endif()
  endif()
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME gfk
               VERSION ${PROJECT_VERSION}
               # Before 1.0 a minor version may change the interface.
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    # Functions are bound when the library is loaded: a binding later takes 12 KiB of stack on some CPUs.
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map},-z,now")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
endfunction()
