# SPDX-License-Identifier: BSD-3-Clause
# gfk_xor_common: the xor engine's kernels of common codes, as machine code for every architecture
# that the library is built for. An object library, because the tests build the library twice.
set(codes "4 2" "6 3" "8 3" "10 4" "12 4" "17 3") # k m
set(xor ${PROJECT_SOURCE_DIR}/src/host/product/xor)
add_executable(
  gfk_xor_common_tool
  ${xor}/common_tool.c
  ${xor}/cse.c
  ${xor}/dual.c
  ${xor}/emit.c
  ${xor}/horner.c
  ${xor}/program.c
  ${xor}/ptx.c
  ${xor}/specialize.c
  ${xor}/text.c
  ${PROJECT_SOURCE_DIR}/src/host/cauchy.c
  ${PROJECT_SOURCE_DIR}/src/host/field.c
  ${PROJECT_SOURCE_DIR}/src/host/poly.c)
target_include_directories(gfk_xor_common_tool PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(gfk_xor_common_tool PRIVATE GFK_STATIC)
gfk_warnings(gfk_xor_common_tool)

set(folder ${PROJECT_BINARY_DIR}/xor_common)
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
      COMMAND gfk_xor_common_tool ptx ${shape} ${cc} ${file}.ptx
      COMMAND ${CUDAToolkit_BIN_DIR}/ptxas -arch=sm_${cc} ${file}.ptx -o ${file}.cubin
      DEPENDS gfk_xor_common_tool
      VERBATIM)
    list(APPEND cubins ${file}.cubin)
    list(APPEND entries ${shape} ${cc} ${file}.cubin)
  endforeach()
endforeach()
add_custom_command(
  OUTPUT ${folder}/common_table.c
  COMMAND gfk_xor_common_tool table ${folder}/common_table.c ${entries}
  DEPENDS gfk_xor_common_tool ${cubins}
  VERBATIM)
add_library(gfk_xor_common OBJECT ${folder}/common_table.c)
target_include_directories(gfk_xor_common PRIVATE ${xor} ${PROJECT_SOURCE_DIR}/include)
set_target_properties(gfk_xor_common PROPERTIES C_VISIBILITY_PRESET hidden
                                                POSITION_INDEPENDENT_CODE ON)
gfk_warnings(gfk_xor_common)
