// The layers below, so that each file sees them.
@_exported public import TintypeCaching
