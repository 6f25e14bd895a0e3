# SPDX-License-Identifier: BSD-3-Clause
# Runs in every build: writes build_info.h anew when the commit or its dirty mark has changed.
if(NOT GFK_COMMIT)
  execute_process(
    COMMAND git describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE GFK_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT GFK_COMMIT)
  set(GFK_COMMIT unknown)
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY) # leaves an equal file alone
