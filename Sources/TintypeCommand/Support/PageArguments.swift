internal import ArgumentParser
internal import Tintype

/// The argument that chooses a page of a document.
struct PageArguments: ParsableArguments {
    @Option(help: ArgumentHelp("Read this page of a PDF or TIFF, counted from 1.", valueName: "number"))
    var page: Int?

    func validate() throws {
        if let page, page < 1 { throw ValidationError("--page needs a number of at least 1.") }
    }

    /// The page, counted from 0 as in ``DecodeOptions/page``; `nil` if none was given.
    var index: Int? { page.map { $0 - 1 } }
}
