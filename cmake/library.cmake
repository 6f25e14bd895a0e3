# SPDX-License-Identifier: BSD-3-Clause
# gfk_add_library(target): the library from its sources. The tests call it a second time, for a
# build with rows that are wrong on purpose.
function(gfk_add_library target)
  # Absolute, because the tests call this from their own folder.
  list(TRANSFORM GFK_HOST_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM GFK_CUDA_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
  add_library(${target} ${GFK_HOST_SOURCES})
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # POSIX, and sched_getaffinity.
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  target_link_libraries(${target} PRIVATE Threads::Threads)
  if(GFK_HAVE_ISAL)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/host/product/isal.c)
    target_compile_definitions(${target} PRIVATE GFK_HAVE_ISAL)
    target_link_libraries(${target} PRIVATE ISAL::isal)
  endif()
  if(GFK_HAVE_CUDA)
    target_sources(${target} PRIVATE ${GFK_CUDA_SOURCES} $<TARGET_OBJECTS:gfk_xor_common>
                                     $<TARGET_OBJECTS:gfk_wgmma>)
    target_compile_definitions(${target} PRIVATE GFK_HAVE_CUDA)
    # The xor engine looks for nvJitLink at run time.
    target_link_libraries(${target} PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
    # A quarter of the size for five architectures. Drivers of CUDA 13 read it; an nvcc of CUDA 12 may
    # meet an older one.
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      target_compile_options(${target}
                             PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
    endif()
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/host/device_none.c
                                     ${PROJECT_SOURCE_DIR}/src/host/pipeline/none.c)
  endif()
  if(NOT BUILD_SHARED_LIBS)
    target_compile_definitions(${target} PUBLIC GFK_STATIC)
    if(GFK_HAVE_CUDA) # the launchers are C++, and the consumer may be C
      target_link_libraries(${target} INTERFACE $<LINK_ONLY:stdc++>)
    endif()
  endif()
  set_target_properties(
    ${target}
    PROPERTIES C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               CUDA_VISIBILITY_PRESET hidden
               POSITION_INDEPENDENT_CODE ON
               OUTPUT_NAME gfk
               VERSION ${PROJECT_VERSION}
               # Before 1.0 a minor version may change the interface.
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
  gfk_warnings(${target})
endfunction()
