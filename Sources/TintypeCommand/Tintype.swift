import ArgumentParser
@main struct T: ParsableCommand { func run() {} }
