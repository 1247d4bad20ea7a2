# Sourced: `tool NAME PACKAGE…` puts a Python package's programs on the PATH, in an environment of their own below target/.
# Versions are pinned by the caller; the second run installs nothing.
tool() {
    local name=$1
    shift
    local place="${CARGO_TARGET_DIR:-$PWD/target}/ci-tools/$name"
    if [ "$(cat "$place/installed" 2> /dev/null)" != "$*" ]; then
        rm -rf "$place"
        python3 -m venv "$place" 2> /dev/null || {
            rm -rf "$place"
            apt-get update -qq
            apt-get install -qq -y python3-venv > /dev/null
            python3 -m venv "$place"
        }
        "$place/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$@"
        echo "$*" > "$place/installed"
    fi
    PATH="$place/bin:$PATH"
}
