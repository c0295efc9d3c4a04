extension ImageBinding {
    private static var chosenManager: ImageManager?

    /// The manager of displays that are created without a manager: ``ImageManager/shared``, unless the program sets another before it
    /// creates its displays.
    public static var defaultManager: ImageManager {
        get { chosenManager ?? .shared }
        set { chosenManager = newValue }
    }

    /// Creates the binding of a display that loads its images with the ``defaultManager``.
    /// - Parameter display: the display, weakly referenced.
    public convenience init(_ display: any ImageDisplay) { self.init(display, manager: Self.defaultManager) }
}
