# SPDX-License-Identifier: BSD-3-Clause
# Headers, library, CMake package and pkg-config file; the program with its manual.
#
# Components: gfk_library has libgfk as programs load it, gfk_link the name that -lgfk finds, gfk_development what
# a compiler needs, gfk_program the program, gfk_manual its man page and completions.
include(CMakePackageConfigHelpers)
option(GFK_DEBIAN "Set up cpack for Debian packages: scripts/package.sh deb" OFF)
mark_as_advanced(GFK_DEBIAN)
if(GFK_DEBIAN)
  include(cmake/debian.cmake)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gfk)
set(GFK_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions")
mark_as_advanced(GFK_ZSH_COMPLETIONS)
install(TARGETS gfk EXPORT gfk_targets
        LIBRARY COMPONENT gfk_library NAMELINK_COMPONENT gfk_link
        ARCHIVE COMPONENT gfk_development)
if(TARGET gfk_tool)
  install(TARGETS gfk_tool RUNTIME COMPONENT gfk_program)
  if(TARGET gfk_manual)
    set(manual ${CMAKE_CURRENT_BINARY_DIR}/tools)
    if(GFK_DEBIAN)
      install(CODE "execute_process(COMMAND gzip -9nkf ${manual}/man/gfk.1 COMMAND_ERROR_IS_FATAL ANY)"
              COMPONENT gfk_manual)
      set(suffix .gz)
    endif()
    install(FILES ${manual}/man/gfk.1${suffix} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT gfk_manual)
    install(FILES ${manual}/completion/gfk.bash
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gfk COMPONENT gfk_manual)
    install(FILES ${manual}/completion/gfk.zsh DESTINATION ${GFK_ZSH_COMPLETIONS} RENAME _gfk COMPONENT gfk_manual)
    install(FILES ${manual}/completion/gfk.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT gfk_manual)
  endif()
endif()
install(DIRECTORY include/gfk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT gfk_development)
install(EXPORT gfk_targets NAMESPACE gfk:: FILE gfk-targets.cmake DESTINATION ${package_dir}
        COMPONENT gfk_development)
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
              ${CMAKE_CURRENT_BINARY_DIR}/gfk-config-version.cmake DESTINATION ${package_dir}
        COMPONENT gfk_development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gfk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT gfk_development)
