# SPDX-License-Identifier: BSD-3-Clause
# gfk_find_toolkit(): find_package(CUDAToolkit REQUIRED), without folders of headers that are not there. nvcc 13 names
# include/cccl, which PyPI's toolkit does not have, and newer versions of CMake refuse targets that name the folder.
macro(gfk_find_toolkit)
  find_package(CUDAToolkit REQUIRED)
  get_property(gfk_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER gfk_targets INCLUDE REGEX "^CUDA::")
  foreach(gfk_target IN LISTS gfk_targets)
    get_target_property(gfk_folders ${gfk_target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT gfk_folders)
      continue()
    endif()
    foreach(gfk_folder IN LISTS gfk_folders)
      if(IS_ABSOLUTE "${gfk_folder}" AND NOT EXISTS "${gfk_folder}")
        list(REMOVE_ITEM gfk_folders ${gfk_folder})
        set_target_properties(
          ${gfk_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${gfk_folders}"
                                   INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${gfk_folders}")
      endif()
    endforeach()
  endforeach()
endmacro()
