# find_package(sandglass-sdk) gives the target sandglass::sdk and
#
#   sandglass_add_plugin(NAME source...)
#
# which builds NAME.so: hidden visibility, every symbol bound when it is loaded, a missing one found
# when it is linked, nothing visible but the table.
include(${CMAKE_CURRENT_LIST_DIR}/sandglass-sdk-targets.cmake)
set(SANDGLASS_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

function(sandglass_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE sandglass::sdk)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CXX" IN_LIST languages)
    target_compile_features(${name} PRIVATE cxx_std_17)
  endif()
  target_link_options(${name} PRIVATE -Wl,-z,defs,-z,now,-z,relro -Wl,--exclude-libs,ALL
                      -Wl,--version-script=${SANDGLASS_PLUGIN_MAP})
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LINK_DEPENDS ${SANDGLASS_PLUGIN_MAP})
endfunction()
