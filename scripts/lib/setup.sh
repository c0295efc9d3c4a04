# What the scripts share; to be sourced. Needs bash.

# Debian's packages of the C libraries that Tintype is built on.
tintype_packages=(
    libjpeg62-turbo-dev libpng-dev libdeflate-dev libwebp-dev libgif-dev liblcms2-dev libxxhash-dev zlib1g-dev
    libbrotli-dev libzstd-dev
)

# What the formats behind package traits take on top: AVIF, HEIF, JXL, TIFF, SVG, PDF, RAW; tests of HEIF encode with x265.
tintype_trait_packages=(
    libavif-dev libheif-dev libde265-dev libjxl-dev libtiff-dev librsvg2-dev libxml2-dev libpoppler-glib-dev libraw-dev libx265-dev
)

# Programs that tests compare with: terminals and their pictures.
tintype_test_packages=(tmux libsixel-bin)

# What the widgets take on top, and a display for their tests.
tintype_gtk_packages=("${tintype_trait_packages[@]}" libgtk-4-dev)
tintype_display_packages=(xvfb xauth xdotool fonts-dejavu-core)
# The formats behind package traits, and how everything is built. All scripts that test build with these same options, and so
# share one build.
tintype_formats=AVIF,HEIF,JXL,TIFF,SVG,PDF,RAW
tintype_all=(--traits "HTTP,$tintype_formats")
# The targets of tests, in the order in which they run; those of the core at the same time.
tintype_core_tests='TintypeImagesTests|TintypeCachingTests|TintypeLoadingTests|TintypeDisplayTests'
tintype_test_targets=("$tintype_core_tests" TintypeCodecsTests TintypeHTTPTests TintypeTests SnippetTests TintypeIsolationTests TintypeCommandTests)
# How the widgets are built: with all formats, and without HTTP, whose build takes several minutes.
tintype_gtk=(--disable-default-traits --traits "GTK,$tintype_formats" --scratch-path .build-gtk)
# CI builds everything from nothing, for which whole modules take a fifth less time. It reads no backtraces with line numbers, and saves the
# time that debug information takes. The widgets are built together with all else.
tintype_whole=()
if [ -n "${CI:-}" ]; then
    # See Package.swift.
    export TINTYPE_OPTIMIZED=1
    tintype_whole=(-debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2)
    tintype_all=(--traits "HTTP,GTK,$tintype_formats" "${tintype_whole[@]}")
    tintype_gtk=("${tintype_all[@]}")
    tintype_trait_packages=("${tintype_gtk_packages[@]}")
fi
# How a smoke run of the benchmarks and counting instructions build, which so share a build.
tintype_counted=(--disable-sandbox -c release -Xswiftc -enable-testing ${CI:+-debug-info-format none})

# SwiftPM passes the traits to the compiler in the order of a set, which is another one in each process: everything would be built again.
export SWIFT_DETERMINISTIC_HASHING=1

# Installs those of the packages that are missing; further ones may be named. Asks for nothing, and does nothing where all are there.
install_libraries() {
    command -v dpkg >/dev/null || {
        echo "This is no Debian system; install what these packages hold: ${tintype_packages[*]}" >&2
        return 0
    }
    local missing=() package as_root=()
    for package in "${tintype_packages[@]}" "$@"; do
        dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed$' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "Missing packages: ${missing[*]}. Install them as root, for there is no sudo." >&2
            return 1
        }
        as_root=(sudo)
    fi
    echo "== Installing ${missing[*]} =="
    # Lists of packages may be missing or old; without them, try anyway and let the installation say what is wrong.
    "${as_root[@]}" apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}

# Installs Python, which checks text and serves the documentation, unless there is one.
require_python() { command -v python3 >/dev/null || install_libraries python3-minimal; }

# Says what to do if there is no Swift.
require_swift() {
    command -v swift >/dev/null && return 0
    echo "Swift is missing: install Swift 6.3 from https://www.swift.org/install/linux/" >&2
    return 1
}

# Lets the package in a folder see files that were added to Tintype since it was built: SwiftPM looks only when a manifest is newer.
replan() { touch "$1/Package.swift"; }
