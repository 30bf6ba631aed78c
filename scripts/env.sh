# shellcheck shell=bash
# Sourced by the scripts beside it: finds Python, makes an environment, installs mctsr into it.
# Prints one line for each step, and one every five seconds while a step is quiet.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HEARTBEAT=
# A second name for stdout, so that the heartbeat is seen while a step's own output goes to a file.
exec 9>&1

say() {
    printf '== %s\n' "$*"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

stop_heartbeat() {
    if [ -n "$HEARTBEAT" ]; then
        kill "$HEARTBEAT" 2>/dev/null || true
        wait "$HEARTBEAT" 2>/dev/null || true
        HEARTBEAT=
    fi
}
trap stop_heartbeat EXIT

start_heartbeat() {
    local begin=$SECONDS
    (
        trap 'kill "$sleeping" 2>/dev/null; exit 0' TERM
        while kill -0 $$ 2>/dev/null; do
            sleep 5 &
            sleeping=$!
            wait "$sleeping"
            printf '   … %d s\n' $((SECONDS - begin)) >&9
        done
    ) &
    HEARTBEAT=$!
}

# with_heartbeat COMMAND…: runs a command that shows its own output, with a line every five seconds.
with_heartbeat() {
    local status=0
    start_heartbeat
    "$@" || status=$?
    stop_heartbeat
    return "$status"
}

# quietly COMMAND…: the same, but the command's output is shown only when it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    with_heartbeat "$@" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3 python; do
        # A name on the path may be a shim without a Python behind it: only running it tells.
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
}

create_env() {
    local folder=$1 base
    base=$(find_python)
    if command -v uv >/dev/null 2>&1; then
        say "Making $folder with uv and Python ${base:-that uv finds}"
        uv venv --quiet --python "${base:->=3.11}" "$folder" || fail "uv could not make $folder"
    elif [ -n "$base" ]; then
        say "Making $folder with $base"
        "$base" -m venv "$folder" ||
            fail "$base -m venv failed; install the venv module (Debian: apt install python3-venv) or uv"
    else
        fail "no Python >= 3.11 found (tried python3.13, python3.12, python3.11, python3, python); install one or uv"
    fi
}

install_packages() {
    if command -v uv >/dev/null 2>&1; then
        uv pip install --python "$1/bin/python" "${@:2}"
    else
        "$1/bin/python" -m pip install --disable-pip-version-check "${@:2}"
    fi
}

# make_env FOLDER EXTRAS: gives an environment with mctsr (editable) and puts it first on PATH.
make_env() {
    local folder=$1 extras=$2 stamp wanted
    case $folder in /*) ;; *) folder=$ROOT/$folder ;; esac
    stamp=$folder/.mctsr-installed
    wanted=$(printf '%s\n' "$ROOT" "$extras" | cat - "$ROOT/pyproject.toml" "$ROOT/scripts/constraints.txt" | cksum)
    [ -x "$folder/bin/python" ] || create_env "$folder"
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        say "$folder is up to date"
    else
        say "Installing mctsr[$extras] into $folder (a minute or so the first time)"
        quietly install_packages "$folder" -e "${ROOT}[$extras]" -c "$ROOT/scripts/constraints.txt" ||
            fail "the installation failed; its last lines are above"
        printf '%s\n' "$wanted" >"$stamp"
    fi
    PATH=$folder/bin:$PATH
    export PATH
}
