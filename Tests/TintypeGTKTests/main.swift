#if GTK
import CGTK
import Glibc
import TintypeGTK

// GTK, and so the main actor, run on the first thread. The top level of this program is synchronous for that reason.
setenv("GSK_RENDERER", "cairo", 0)
setenv("GTK_THEME", "Default", 1)
setenv("GTK_A11Y", "test", 1)
guard gtk_init_check() != 0 else {
    print("GTK has no display; run scripts/test-gtk")
    exit(1)
}
MainActorBridge.attach()
let filter = CommandLine.arguments.dropFirst().first
Task { @MainActor in
    await GTKTestRun.run(
        GTKPictureTests.all + GTKButtonTests.all + GTKDisplayTests.all + GTKAnimationTests.all + GTKListTests.all
            + GTKScreenshotTests.all + GTKSizeTests.all + GTKContentTests.all + GTKVisibilityTests.all
            + GTKSnippets.all, filter)
}
let loop = g_main_loop_new(nil, 0)
g_main_loop_run(loop)
#else
print("These tests need the trait GTK: run scripts/test-gtk")
#endif
