/// The wishes of a program for a load of a display.
struct DisplaySettings {
    var placeholder: Image?
    var failureImage: Image?
    var options: DisplayOptions = []
    var transition: ImageTransition?
    var indicator: IndicatorStyle?
    var onEvent: (@MainActor (ImageEvent) -> Void)?
}
