# SPDX-License-Identifier: BSD-3-Clause
set(CUDAToolkit_FOUND ON)
foreach(name IN ITEMS cudart_static toolkit empty)
  add_library(CUDA::${name} IMPORTED INTERFACE)
endforeach()
foreach(name IN ITEMS cudart_static toolkit)
  target_include_directories(CUDA::${name} SYSTEM INTERFACE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/cccl)
endforeach()
