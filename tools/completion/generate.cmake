# SPDX-License-Identifier: BSD-3-Clause
# cmake -DTOOL=PROGRAM -P generate.cmake: the completions in the current folder, with the options of the program.
execute_process(COMMAND ${TOOL} help --options OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "'" "" options "${options}") # the scripts have the lines between such quotes
foreach(shell IN ITEMS bash fish zsh)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/gfk.${shell}.in ${CMAKE_CURRENT_BINARY_DIR}/gfk.${shell} @ONLY)
endforeach()
