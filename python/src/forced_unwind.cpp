// SPDX-License-Identifier: BSD-3-Clause
// A daemon thread that asks for the GIL while the interpreter ends is ended by Python up to 3.13: pthread_exit
// unwinds the thread's stack by force. A frame of C++ must not be on the way: its destructors would use objects of
// Python without the GIL, and std::terminate ends the process at the first function that is noexcept. So such a
// thread stops here, at its innermost frame of this module, until the process ends; Python 3.14 does the same.
//
// The linker puts this function in the place of the personality of all frames of this module, those of nanobind
// included (--wrap=__gxx_personality_v0). The unwinder asks it before anything of a frame is cleaned up.
#include <unistd.h>
#include <unwind.h>

extern "C" {
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class type,
                                                _Unwind_Exception *exception, _Unwind_Context *context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class type,
                                                _Unwind_Exception *exception, _Unwind_Context *context) {
    while ((actions & _UA_FORCE_UNWIND) != 0)
        pause();
    return __real___gxx_personality_v0(version, actions, type, exception, context);
}
}
