/* SPDX-License-Identifier: BSD-3-Clause */
/* libcuda.so.1 of a driver that is older than what any CUDA runtime takes that builds the library. */
int cuDriverGetVersion(int *version) {
    *version = 11080;
    return 0;
}
int cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags) {
    (void)name, (void)version, (void)flags;
    *function = (void *)0;
    return 0;
}
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                        int *status) {
    (void)status;
    return cuGetProcAddress(name, function, version, flags);
}
