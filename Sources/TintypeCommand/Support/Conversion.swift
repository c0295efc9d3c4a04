internal import ArgumentParser
internal import CommandSupport
internal import Tintype

/// An image to read, and the file to write it to.
struct Conversion: Sendable, Equatable {
    var input: String
    var output: String
    var format: ImageFormat

    /// Returns the conversions of images into a folder. Each keeps its name, with the extension of its format.
    /// - Parameters:
    ///   - inputs: the paths of the images.
    ///   - folder: the path of the folder.
    ///   - format: the format of all files; `nil` for the format that the extension of each image selects.
    /// - Throws: a validation error for an image that has no name or no format, and for two that would be written to the same file.
    static func list(_ inputs: [String], into folder: String, as format: ImageFormat?) throws -> [Conversion] {
        guard !folder.isEmpty else { throw ValidationError("--output-folder needs the path of a directory.") }
        let prefix = folder == "." ? "" : folder.hasSuffix("/") ? folder : "\(folder)/"
        // By bytes: a letter with an accent may be written in two ways, which are two files.
        var sources: [[UInt8]: String] = [:]
        return try inputs.map { input in
            guard input != "-" else {
                throw ValidationError("--output-folder can't be used with standard input, which has no file name.")
            }
            guard let format = try? format ?? OutputFormat.ofFile(input) else {
                throw ValidationError(
                    "“\(input)” has no extension of a format that can be written; choose one for all images with --format."
                )
            }
            var name = FileName(ofFile: input)
            name.adopt(format)
            let output = prefix + name.name()
            // Two names may be links to the same file.
            let target = OutputFile.existing(output) ?? output
            if let other = sources.updateValue(input, forKey: Array(target.utf8)) {
                throw ValidationError("“\(other)” and “\(input)” would both be written to “\(output)”.")
            }
            return Conversion(input: input, output: output, format: format)
        }
    }
}
