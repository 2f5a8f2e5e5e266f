// Debian 13's Swift and C headers take these names in the versions that came with glibc 2.38. Linked into the arm64
// programs, each name goes on to the function that glibc 2.36 (Debian 12) has, so that one program runs on both. This is no
// matter of memory: without this file no arm64 program starts on Debian 12. The names are hidden: were they exported, the
// loader would take them for the library's own, and each would jump to itself.
    .arch armv8.5-a
    .symver fmod_2_17, fmod@GLIBC_2.17
    .symver fmodf_2_17, fmodf@GLIBC_2.17
    .text

    .macro hidden_function name
    .globl \name
    .hidden \name
    .type \name, %function
\name:
    bti c
    .endm

    .macro instead name, older
    hidden_function \name
    b \older
    .size \name, . - \name
    .endm

    instead fmod, fmod_2_17
    instead fmodf, fmodf_2_17
    instead __isoc23_strtol, strtol
    instead __isoc23_strtoll, strtoll
    instead __isoc23_strtoul, strtoul
    instead __isoc23_strtoull, strtoull
    instead __isoc23_sscanf, __isoc99_sscanf

// size_t strlcpy(char *to, const char *from, size_t size): copies what fits, ends it with 0, gives the length of `from`.
    hidden_function strlcpy
    mov x3, #0                  // place
    cbz x2, 3f                  // no room at all
1:  ldrb w4, [x1, x3]
    strb w4, [x0, x3]
    cbz w4, 4f
    add x3, x3, #1
    cmp x3, x2
    b.ne 1b
    add x5, x0, x3              // full: the last byte becomes the end
    sturb wzr, [x5, #-1]
3:  ldrb w4, [x1, x3]           // the rest is only counted
    cbz w4, 4f
    add x3, x3, #1
    b 3b
4:  mov x0, x3
    ret
    .size strlcpy, . - strlcpy

    .section .note.GNU-stack, "", %progbits
