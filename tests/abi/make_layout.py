#!/usr/bin/env python3
"""Writes the layout asserts of a released minor of plugin.h.

    tests/abi/make_layout.py sdk/include/sandglass/plugin.h > tests/abi/layout_v1.h

Run once, before a release that raises SG_ABI_MINOR, and commit the result: a line that
changes or goes is a break for plugins that are already built. 64-bit, gcc.
"""
import re
import subprocess
import sys
import tempfile

header = sys.argv[1]
text = re.sub(r"/\*.*?\*/", " ", open(header).read(), flags=re.S)


def split_fields(body):
    """[(name, type of a function pointer or None)] of a struct's fields."""
    fields = []
    for field in filter(None, (" ".join(f.split()) for f in body.split(";"))):
        slot = re.fullmatch(r"(.+?)\(\*(\w+)\)\s*(\(.*\))", field)
        if slot:
            fields.append((slot[2], f"{slot[1].strip()} (*%s){slot[3]}"))
        else:
            fields.append((re.search(r"(\w+)$", field)[1], None))
    return fields


structs = [(name, split_fields(body))
           for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(\w+);", text, flags=re.S)]
constants = []
for body in re.findall(r"enum \{(.*?)\};", text, flags=re.S):
    constants += [item.split("=")[0].strip() for item in body.split(",") if item.strip()]
masks = re.findall(r"#define (SG_\w+) UINT64_C", text)
ids = re.findall(r'#define (SG_(?:KIND|SERVICE)_\w+) (".*?")', text)

probe = ["#include <sandglass/plugin.h>", "#include <stdio.h>", "int main(void) {"]
for name, fields in structs:
    probe.append(f'printf("%zu\\n", sizeof({name}));')
    probe += [f'printf("%zu %zu\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));'
              for f, _ in fields]
probe += [f'printf("%lld\\n", (long long){c});' for c in constants + masks]
probe.append("return 0; }")
with tempfile.TemporaryDirectory() as folder:
    source, program = f"{folder}/probe.c", f"{folder}/probe"
    open(source, "w").write("\n".join(probe))
    include = header.rsplit("/sandglass/", 1)[0]
    subprocess.run(["gcc", "-I", include, "-o", program, source], check=True)
    numbers = iter(subprocess.run([program], check=True, capture_output=True,
                                  text=True).stdout.splitlines())

print("""/* The layout of ABI 1.0, frozen: made by make_layout.py, never edited. Every line here holds for
   each later 1.x, with sizes as the least a struct may have. */
#ifndef SG_LAYOUT_V1_H
#define SG_LAYOUT_V1_H

#include <sandglass/plugin.h>

/* Works in C89 and C++98; the name says what broke. */
#define SG_HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]
#define SG_FIELD(type, field, at, bytes)                                  \\
  SG_HOLDS(sg_layout_##type##_##field, offsetof(type, field) == (at) &&   \\
                                           sizeof(((type *)0)->field) == (bytes))
/* Comparing pointers to functions of two types does not compile. */
#define SG_SLOT(type, field)                      \\
  SG_HOLDS(sg_signature_##type##_##field,         \\
           sizeof(((type *)0)->field == (sg_slot_##type##_##field)0) > 0)
""")
for name, fields in structs:
    size = next(numbers)
    relation = "==" if name in ("sg_str", "sg_bytes") else ">="  # embedded ones never grow
    print(f"SG_HOLDS(sg_size_{name}, sizeof({name}) {relation} {size});")
    for field, slot in fields:
        at, width = next(numbers).split()
        print(f"SG_FIELD({name}, {field}, {at}, {width});")
        if slot:
            print(f"typedef {slot % f'sg_slot_{name}_{field}'};")
            print(f"SG_SLOT({name}, {field});")
    print()
for constant in constants + masks:
    print(f"SG_HOLDS(sg_value_{constant}, {constant} == {next(numbers)});")
print()
for name, value in ids:
    print(f"SG_HOLDS(sg_text_{name}, sizeof({name}) == sizeof({value}));")
print("\n#endif /* SG_LAYOUT_V1_H */")
