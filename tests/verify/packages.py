"""har-validator of npm, which holds an HTTP archive to its schemas."""

import subprocess

from tests.needs import package

JUDGE_HAR = (
    "require(process.argv[1]).har(JSON.parse(require('fs').readFileSync(0)))"
    ".catch(e => { console.error(e.errors); process.exit(1) })"
)


def har_faults(content: bytes | str) -> str:
    """Returns what har-validator finds wrong with an archive; nothing where it is one."""
    text = content.decode() if isinstance(content, bytes) else content
    command = ["node", "-e", JUDGE_HAR, str(package("har-validator"))]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or "refused"
