/** What the event loop tells the watching thread about itself. */
export interface LoopReport {
  /** Counts up while the event loop turns. */
  readonly beats: number
  /** Whether a debugger could hold the event loop. */
  readonly isDebugged: boolean
  readonly runIds: readonly string[]
}

/** The event loop's side of the shared memory. */
export interface LoopStateWriter {
  /** Counts a beat and replaces the list of runs. */
  beat(isDebugged: boolean, runIds: readonly string[]): void
  /** Adds a run to the list until the next beat. */
  enter(runId: string): void
  /** How often the thread has reported a blocked event loop. */
  blocks(): number
}

/** The watching thread's side of the shared memory. */
export interface LoopStateReader {
  read(): LoopReport
  countBlock(): void
}

const BEATS = 0
const DEBUGGED = 1
const BLOCKS = 2
const LENGTH = 3
const HEAD_BYTES = 16
const LIST_BYTES = 4_096

/** Memory instead of messages: a blocked event loop cannot send any. */
export const createLoopState = (): SharedArrayBuffer => new SharedArrayBuffer(HEAD_BYTES + LIST_BYTES)

export function loopStateWriter(state: SharedArrayBuffer): LoopStateWriter {
  const head = new Int32Array(state, 0, HEAD_BYTES / 4)
  const list = Buffer.from(state, HEAD_BYTES)
  let length = 0

  const append = (runId: string): void => {
    const line = `${runId}\n`
    // A list without its last runs is better than one without a beginning.
    if (length + line.length > LIST_BYTES) return
    length += list.write(line, length, 'latin1')
    Atomics.store(head, LENGTH, length)
  }

  return {
    beat(isDebugged, runIds) {
      length = 0
      for (const runId of runIds) append(runId)
      Atomics.store(head, LENGTH, length)
      Atomics.store(head, DEBUGGED, isDebugged ? 1 : 0)
      Atomics.add(head, BEATS, 1)
    },
    enter: append,
    blocks: () => Atomics.load(head, BLOCKS),
  }
}

export function loopStateReader(state: SharedArrayBuffer): LoopStateReader {
  const head = new Int32Array(state, 0, HEAD_BYTES / 4)
  const list = Buffer.from(state, HEAD_BYTES)
  return {
    read() {
      const lines = list.toString('latin1', 0, Atomics.load(head, LENGTH)).split('\n')
      return {
        beats: Atomics.load(head, BEATS),
        isDebugged: Atomics.load(head, DEBUGGED) === 1,
        runIds: [...new Set(lines.filter((line) => line !== ''))],
      }
    },
    countBlock: () => void Atomics.add(head, BLOCKS, 1),
  }
}
