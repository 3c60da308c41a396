import type { TextSink } from '@perdure/ports'

/** A sink whose reader takes the text when the test says so. */
export interface TestSink extends TextSink {
  readonly parts: readonly string[]
  /** `open` until the stream ends the sink or breaks it off. */
  readonly state: 'open' | 'ended' | 'failed'
  /** The reader takes everything. */
  drain(): void
}

/** @param room how many characters have room before the reader takes them */
export function createTestSink(room = Number.POSITIVE_INFINITY): TestSink {
  const parts: string[] = []
  let state: TestSink['state'] = 'open'
  let waiting = 0
  let resume = () => {}
  const whileOpen = (change: () => void) => {
    if (state !== 'open') throw new Error(`the stream used a sink that had ${state}`)
    change()
  }
  return {
    parts,
    get state() {
      return state
    },
    drain() {
      waiting = 0
      resume()
    },
    hasRoom: () => waiting < room,
    write: (text) =>
      whileOpen(() => {
        parts.push(text)
        waiting += text.length
      }),
    onDrain(callback) {
      resume = callback
    },
    end: () =>
      whileOpen(() => {
        state = 'ended'
      }),
    fail: () =>
      whileOpen(() => {
        state = 'failed'
      }),
  }
}
