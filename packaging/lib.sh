# Sourced by the scripts beside it: where packages go, what they are called, for which system they are made.
#
#   TARGET            the system, as Rust names it; this machine's
#   PROFILE           `dist`; `release` for trying the scripts out
#   COMMIS_PROGRAM    a program that is built already, with `commis-core` beside it, instead of what `packaging/wheel` left
source ci/tools.sh

TARGET=${TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
PROFILE=${PROFILE:-dist}
BUILT=${CARGO_TARGET_DIR:-$PWD/target}
OUT=$BUILT/packages
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
mkdir -p "$OUT"
# The same input gives the same package: times in it are those of the last commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}

# The program that goes into the packages. `commis-core`, which it begins, is beside it.
program() {
    local program=${COMMIS_PROGRAM:-$BUILT/$TARGET/$PROFILE/commis} it
    for it in "$program" "$(dirname "$program")/commis-core"; do
        if [ ! -x "$it" ]; then
            echo "there is no $it: packaging/wheel builds it" >&2
            return 1
        fi
    done
    echo "$program"
}

# A field of this target's row in platforms.json; nothing where it has none.
platform() {
    python3 - "$TARGET" "$1" << 'END'
import json, sys
for it in json.load(open("packaging/platforms.json")):
    if it["target"] == sys.argv[1]:
        print(it.get(sys.argv[2], ""))
END
}

# The licences of what is compiled in, as one file at the root, where each package takes it from.
notices() {
    cargo metadata --format-version 1 --locked --filter-platform "$TARGET" | python3 packaging/notices.py > THIRD-PARTY.txt.new
    mv THIRD-PARTY.txt.new THIRD-PARTY.txt
}

# Manual pages and completions, as the program itself writes them: so it has to run here.
beside() {
    local man=$1 completions=$2 home
    home=$(mktemp -d)
    COMMIS_HOME=$home "$program" man "$man" > /dev/null 2>&1
    # A page for `help` of each command says what `help` says.
    find "$man" -name '*-help*' -delete
    COMMIS_HOME=$home "$program" completions bash > "$completions/commis.bash"
    COMMIS_HOME=$home "$program" completions zsh > "$completions/_commis"
    COMMIS_HOME=$home "$program" completions fish > "$completions/commis.fish"
    chmod -R u=rwX,go=rX "$man" "$completions"
    rm -rf "$home"
}

# NAME.sha256 beside each file, as `sha256sum --check` reads it.
checksum() {
    local it
    for it in "$@"; do
        (cd "$(dirname "$it")" && { sha256sum "$(basename "$it")" 2> /dev/null || shasum -a 256 "$(basename "$it")"; } > "$it.sha256")
    done
}

# Says what was made, and how large it is.
made() {
    local it
    for it in "$@"; do
        printf '%s %s\n' "$(numfmt --to=si --format=%.1f "$(stat -c %s "$it" 2> /dev/null || stat -f %z "$it")" 2> /dev/null || echo '')" "$it"
    done
}
