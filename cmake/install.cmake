# SPDX-License-Identifier: BSD-3-Clause
# Headers, library, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gfk)
install(TARGETS gfk EXPORT gfk_targets)
if(TARGET gfk_tool)
  install(TARGETS gfk_tool)
  install(FILES docs/man/gfk.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  if(TARGET gfk_completions)
    set(completions ${CMAKE_CURRENT_BINARY_DIR}/tools/completion)
    install(FILES ${completions}/gfk.bash
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gfk)
    install(FILES ${completions}/gfk.zsh
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _gfk)
    install(FILES ${completions}/gfk.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
install(DIRECTORY include/gfk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gfk_targets NAMESPACE gfk:: FILE gfk-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/gfk-config.cmake.in gfk-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(gfk-config-version.cmake COMPATIBILITY SameMinorVersion)
# The prefix in gfk.pc is relative to the file, for `cmake --install --prefix` and for moved trees.
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pc_libs_private "-lpthread -lrt -ldl")
if(GFK_HAVE_CUDA) # what a static libgfk leaves to the program
  set(pc_libs_private "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ ${pc_libs_private}")
endif()
configure_file(cmake/gfk.pc.in gfk.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gfk-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/gfk-config-version.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gfk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
