# SPDX-License-Identifier: BSD-3-Clause
# Three packages for Debian, which cpack makes: the library (named by its soname), what a compiler needs, and the
# program. scripts/package.sh deb configures with GFK_DEBIAN=ON, the prefix /usr and the flags of dpkg-buildflags.
#
# The maintainer is DEBFULLNAME <DEBEMAIL> of the environment, as for Debian's own tools; the date of the changelog is
# SOURCE_DATE_EPOCH.
set(library_package libgfk${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if("$ENV{DEBFULLNAME}" STREQUAL "" OR "$ENV{DEBEMAIL}" STREQUAL "")
  set(contact "The gf-kernels authors <gf-kernels@example.org>")
endif()

# ---- what every package must have -------------------------------------------------------------------
set(folder ${CMAKE_CURRENT_BINARY_DIR}/debian-files)
file(MAKE_DIRECTORY ${folder})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${folder}/changelog
     "gfk (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
     "  * Packages of gf-kernels ${PROJECT_VERSION}; CHANGELOG.md in its sources says what is new.\n\n"
     " -- ${contact}  ${date}\n")
execute_process(COMMAND gzip -9nkf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(READ LICENSE license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)" ignored "${license}")
set(copyright "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^.*Copyright[^\n]*\n\n" "" license "${license}")
string(STRIP "${license}" license)
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(WRITE ${folder}/copyright
     "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
     "Upstream-Name: gf-kernels\n\nFiles: *\nCopyright: ${copyright}\nLicense: BSD-3-clause\n ${license}\n")
foreach(package IN ITEMS ${library_package}=library libgfk-dev=development gfk=program)
  string(REGEX MATCH "(.*)=(.*)" ignored ${package})
  install(FILES ${folder}/copyright ${folder}/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_1} COMPONENT gfk_${CMAKE_MATCH_2})
endforeach()

file(WRITE ${folder}/shlibs
     "libgfk ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${library_package} (>= ${PROJECT_VERSION})\n")
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")

# ---- the packages -----------------------------------------------------------------------------------
set(about "gf-kernels multiplies memory by constants and matrices in GF(2^8),
GF(2^16) and GF(2^32), and has Reed-Solomon codes, network coding and
linear algebra on top. This build computes on the CPU; kernels for NVIDIA
GPUs come with a build from source or with the Python package.")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gfk)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Galois fields, Reed-Solomon codes and network coding")
set(CPACK_COMPONENTS_ALL gfk_library gfk_link gfk_development gfk_program gfk_manual)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${contact}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR}/src)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libisal2)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS libgf-complete1)
# The library's CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS is given to cpack by scripts/package.sh, from dpkg-shlibdeps:
# with SHLIBDEPS, CPack would add scripts that call ldconfig, and Debian has a trigger for that.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${folder}/shlibs ${folder}/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${about}\n.\nThis package has the library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgfk-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "${about}\n.\nThis package has the headers, the CMake package gfk and gfk.pc.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gfk)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
    "The program gfk writes k + m shards of a file, of which any k restore the
file. gfk verifies and repairs shards, and scrubs trees of folders.")
include(CPack)
cpack_add_component(gfk_library GROUP runtime)
cpack_add_component(gfk_link GROUP development)
cpack_add_component(gfk_development GROUP development)
cpack_add_component(gfk_program GROUP program)
cpack_add_component(gfk_manual GROUP program)
