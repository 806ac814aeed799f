"""Folders depend downwards only; plugins and samples see only the SDK; heavy headers stay in few sources."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FLOORS = [['base'], ['config', 'git', 'proc'], ['plugin'], ['event'], ['watch'], ['sandbox'], ['api'], ['cli']]
LEVEL = {folder: level for level, floor in enumerate(FLOORS) for folder in floor}
HEAVY = re.compile(r'^(yaml-cpp|nlohmann|valijson|git2|sqlite3|spdlog|boost|CLI)\b')
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
faults = []


def sources(folder):
    return [p for p in sorted((ROOT / folder).rglob('*')) if p.suffix in ('.h', '.hpp', '.c', '.cc', '.cpp')]


for path in sources('core'):
    own = path.relative_to(ROOT / 'core').parts[0]
    if own not in LEVEL:
        faults.append(f'{path}: folder {own} has no floor: add it to this test and to core/README.md')
        continue
    for name in INCLUDE.findall(path.read_text()):
        other = name.split('/')[0]
        if other in LEVEL and other != own and LEVEL[other] >= LEVEL[own]:
            faults.append(f'{path}: {own} includes {name} of {other}, which is not below it')
        if path.suffix == '.h' and HEAVY.match(name) and 'fwd' not in name and not name.startswith('boost/unordered'):
            faults.append(f'{path}: a header includes the heavy {name}')
        if name == 'sandglass/plugin.hpp':
            faults.append(f'{path}: core includes the C++ wrapper, which is for plugins')

for folder in ('plugins', 'samples'):
    for path in sources(folder):
        own_headers = {p.name for p in path.parent.iterdir()}
        for name in INCLUDE.findall(path.read_text()):
            inside = (ROOT / 'core' / name).exists() and name not in own_headers
            if inside:
                faults.append(f'{path}: {folder} may include only the SDK, not {name}')

print('\n'.join(faults) or 'every include points downwards')
sys.exit(1 if faults else 0)
