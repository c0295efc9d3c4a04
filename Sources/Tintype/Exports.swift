// `import Tintype` provides everything that a program needs.
@_exported public import FoundationEssentials
@_exported public import TintypeCodecs
@_exported public import TintypeDisplay
@_exported public import TintypeIsolation
#if HTTP
@_exported public import TintypeHTTP
#endif
