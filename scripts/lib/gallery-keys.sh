#!/usr/bin/env bash
# Presses keys in the gallery on a virtual display, and fails unless its window shows what they are for.
#   scripts/lib/gallery-keys.sh GALLERY
set -euo pipefail
"$1" --samples --size 600x400 &
gallery=$!
trap 'kill "$gallery" 2> /dev/null || true' EXIT
window="$(timeout 60 xdotool search --sync --onlyvisible --pid "$gallery" | tail -1)" || true
[ -n "$window" ] || { echo "The gallery has no window after 60 s." >&2 && exit 1; }
# Waits for a title of the window that matches a pattern.
shows() {
    local title=""
    for _ in {1..200}; do
        title="$(xdotool getwindowname "$window")"
        [[ "$title" != $1 ]] || return 0
        sleep 0.1
    done
    echo "The window shows “$title” instead of “$1”." >&2
    return 1
}
press() {
    xdotool windowfocus --sync "$window" key "$1"
    shows "$2"
    echo "$1: $2"
}
shows "[0-9]* images"
press Return "mountains*"
press Right "sea*"
press Left "mountains*"
press Escape "[0-9]* images"
press Return "mountains*"
press alt+Left "[0-9]* images"
xdotool windowfocus --sync "$window" key ctrl+q
wait "$gallery"
