# SPDX-License-Identifier: BSD-3-Clause
# gfk_xor_prebuilt: the xor engine's kernels of common codes, as machine code for every architecture
# that the library is built for.
set(codes "4 2" "6 3" "8 3" "10 4" "12 4" "17 3") # k m
add_executable(gfk_xor_prebuilt_tool prebuilt_tool.c $<TARGET_OBJECTS:gfk_xor_generator>
                                     $<TARGET_OBJECTS:gfk_base>)
target_include_directories(gfk_xor_prebuilt_tool PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                         ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(gfk_xor_prebuilt_tool PRIVATE Threads::Threads)
gfk_warnings(gfk_xor_prebuilt_tool)

set(folder ${PROJECT_BINARY_DIR}/xor_prebuilt)
file(MAKE_DIRECTORY ${folder})
set(cubins "")
set(entries "")
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  # Without a number, or as PTX only: left to create.
  if(NOT architecture MATCHES "^([0-9]+)(-real)?$")
    continue()
  endif()
  set(cc ${CMAKE_MATCH_1})
  foreach(code IN LISTS codes)
    string(REPLACE " " ";" shape ${code})
    list(JOIN shape _ name)
    set(file ${folder}/${name}_${cc})
    add_custom_command(
      OUTPUT ${file}.cubin
      COMMAND gfk_xor_prebuilt_tool ptx ${shape} ${cc} ${file}.ptx
      COMMAND ${CUDAToolkit_BIN_DIR}/ptxas -arch=sm_${cc} ${file}.ptx -o ${file}.cubin
      DEPENDS gfk_xor_prebuilt_tool
      VERBATIM)
    list(APPEND cubins ${file}.cubin)
    list(APPEND entries ${shape} ${cc} ${file}.cubin)
  endforeach()
endforeach()
add_custom_command(
  OUTPUT ${folder}/prebuilt_table.c
  COMMAND gfk_xor_prebuilt_tool table ${folder}/prebuilt_table.c ${entries}
  DEPENDS gfk_xor_prebuilt_tool ${cubins}
  VERBATIM)
gfk_objects(gfk_xor_prebuilt)
target_sources(gfk_xor_prebuilt PRIVATE ${folder}/prebuilt_table.c)
