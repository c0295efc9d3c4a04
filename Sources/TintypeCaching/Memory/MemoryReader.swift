/// The state of the lookups on one processor: counts of hits and misses, and records of the used entries.
///
/// A hit changes no order. It records the time of the use, once for each entry, no matter how many uses there are.
/// ``MemoryStore`` takes the records before each decision, and sorts those of all processors by time.
struct MemoryReader: ~Copyable {
    private struct Note {
        var tick: UInt64
        var cell: MemoryTable.Index
        var count: Int32
    }

    /// One or several uses of an entry. The time is that of the last use.
    struct Use {
        var tick: UInt64
        var slot: Slot
        var count: Int32
    }

    /// The number of records after which a hit has them taken.
    private static let fullNotes = 1_024
    /// The largest number of uses that is counted.
    private static let mostUses: Int32 = 1_000

    var hits = 0
    var misses = 0
    private(set) var noteCount = 0
    /// The capacity of the records and of the table of cells.
    private var capacity = 0
    private var notes = UnsafeMutablePointer<Note>.allocate(capacity: 0)
    /// The index of each cell's record; -1 if there is none.
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

    /// Moves the records to the end of an array.
    mutating func takeUses(_ uses: inout [Use], slotOfCell: (MemoryTable.Index) -> Slot) {
        for position in 0..<noteCount {
            let note = notes[position]
            notesOfCells[Int(note.cell)] = -1
            uses.append(Use(tick: note.tick, slot: slotOfCell(note.cell), count: note.count))
        }
        noteCount = 0
    }

    /// Removes the record of a cell whose entry is being removed.
    mutating func dropNote(_ cell: MemoryTable.Index) {
        guard noteCount > 0, notesOfCells[Int(cell)] >= 0 else { return }
        let note = Int(notesOfCells[Int(cell)])
        noteCount -= 1
        notes[note] = notes[noteCount]
        notesOfCells[Int(notes[note].cell)] = Int32(note)
        notesOfCells[Int(cell)] = -1
    }

    /// Makes room for the records of `count` cells.
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
