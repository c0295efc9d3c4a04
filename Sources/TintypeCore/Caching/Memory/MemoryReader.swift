/// What the lookups on one processor need to themselves: they count, and note which entries they used.
///
/// A hit changes no order. It notes when the entry was used, once for each entry however often that is; ``MemoryStore`` takes the
/// notes before it decides anything by them, and puts those of all processors in the order of their time.
struct MemoryReader: ~Copyable {
    private struct Note {
        var tick: UInt64
        var cell: MemoryTable.Index
        var count: Int32
    }

    /// A use of an entry, or several, of which the last counts.
    struct Use {
        var tick: UInt64
        var slot: Slot
        var count: Int32
    }

    /// The notes that are collected before a hit has them taken.
    private static let fullNotes = 1_024
    /// More uses count no more.
    private static let mostUses: Int32 = 1_000

    var hits = 0
    var misses = 0
    private(set) var noteCount = 0
    /// As many as cells, like the notes.
    private var capacity = 0
    private var notes = UnsafeMutablePointer<Note>.allocate(capacity: 0)
    /// Where the note of each cell is; -1 if there is none.
    private var notesOfCells = UnsafeMutablePointer<Int32>.allocate(capacity: 0)

    deinit {
        notes.deallocate()
        notesOfCells.deallocate()
    }

    var isFull: Bool { noteCount >= Self.fullNotes }

    @inline(__always)
    mutating func noteUse(_ cell: MemoryTable.Index) {
        let tick = Ticks.now
        let note = Int(notesOfCells[Int(cell)])
        if note >= 0 {
            notes[note].tick = tick
            if notes[note].count < Self.mostUses { notes[note].count += 1 }
        } else {
            notes[noteCount] = Note(tick: tick, cell: cell, count: 1)
            notesOfCells[Int(cell)] = Int32(noteCount)
            noteCount += 1
        }
    }

    /// Moves the notes to the end of an array.
    mutating func takeUses(_ uses: inout [Use], slotOfCell: (MemoryTable.Index) -> Slot) {
        for position in 0..<noteCount {
            let note = notes[position]
            notesOfCells[Int(note.cell)] = -1
            uses.append(Use(tick: note.tick, slot: slotOfCell(note.cell), count: note.count))
        }
        noteCount = 0
    }

    /// Forgets that a cell was used, whose entry goes.
    mutating func dropNote(_ cell: MemoryTable.Index) {
        guard noteCount > 0, notesOfCells[Int(cell)] >= 0 else { return }
        let note = Int(notesOfCells[Int(cell)])
        noteCount -= 1
        notes[note] = notes[noteCount]
        notesOfCells[Int(notes[note].cell)] = Int32(note)
        notesOfCells[Int(cell)] = -1
    }

    /// Makes room for the notes of so many cells.
    mutating func reserve(_ count: Int) {
        guard count > capacity else { return }
        let newNotes = UnsafeMutablePointer<Note>.allocate(capacity: count)
        newNotes.moveInitialize(from: notes, count: noteCount)
        notes.deallocate()
        notes = newNotes
        let newPlaces = UnsafeMutablePointer<Int32>.allocate(capacity: count)
        newPlaces.moveInitialize(from: notesOfCells, count: capacity)
        (newPlaces + capacity).initialize(repeating: -1, count: count - capacity)
        notesOfCells.deallocate()
        notesOfCells = newPlaces
        capacity = count
    }
}
