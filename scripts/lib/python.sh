# What the scripts in Python share; to be sourced after setup.sh, in the folder of the project. Needs bash.

# Debian's packages of the tools that make and read the files to compare with.
python_packages=(python3-venv libavif-bin libjxl-tools webp)

# Makes a virtual environment in .verification with what scripts/lib/verification/requirements.txt names, once.
# Sets `python` to its interpreter.
require_python_environment() {
    local requirements=scripts/lib/verification/requirements.txt environment=.verification
    install_libraries "${tintype_trait_packages[@]}" "${python_packages[@]}"
    if ! cmp -s "$requirements" "$environment/installed.txt"; then
        echo "== Installing Python packages in $environment ==" >&2
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
        cp "$requirements" "$environment/installed.txt"
    fi
    python="$PWD/$environment/bin/python"
}

# Sets `tintype` to the command: that of the environment variable TINTYPE, or a release build with all formats.
require_tintype() {
    tintype="${TINTYPE:-}"
    if [ -z "$tintype" ]; then
        require_swift
        echo "== Building the command with all formats ==" >&2
        swift build -c release --product tintype "${tintype_all[@]}" >&2
        tintype=.build/release/tintype
    fi
    [ -x "$tintype" ] || { echo "$tintype is no program" >&2; return 69; }
    tintype="$(realpath "$tintype")"
}

# Runs a module of scripts/lib/verification with the arguments that follow.
verify() {
    PYTHONPATH=scripts/lib PYTHONDONTWRITEBYTECODE=1 "$python" -m "verification.$1" --tintype "$tintype" "${@:2}"
}
