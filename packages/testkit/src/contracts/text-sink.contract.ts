import type { TextSink, TextStream } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

/** The far end of a stream. */
export interface TextReader {
  /** The next text, as soon as there is some; `undefined` after the end. Rejects if the stream was broken off. */
  next(): Promise<string | undefined>
  /** Stops reading for good, before the end. */
  leave(): void
}

export interface TextSinkHarness {
  readonly name: string
  /** Sends the stream to a reader, which takes text only when `next` is called, except what the way to it buffers. */
  open(stream: TextStream): Promise<TextReader>
}

interface Opened extends TextReader {
  readonly sink: TextSink
  /** How often the sink has reported room. */
  drains(): number
  cancels(): number
  /** Reads until so much text has arrived in all, or to the end. */
  read(length?: number): Promise<string>
}

/** More than any connection buffers. */
const MOST_BUFFERED = 64 * 1024 * 1024
const PART = '0123456789abcdé🚢'.repeat(512)

async function open({ open: send }: TextSinkHarness): Promise<Opened> {
  let drains = 0
  let cancels = 0
  const { promise: piped, resolve } = Promise.withResolvers<TextSink>()
  const reader = await send({
    pipeTo(sink) {
      sink.onDrain(() => void drains++)
      resolve(sink)
    },
    cancel: () => void cancels++,
  })
  return {
    ...reader,
    sink: await piped,
    drains: () => drains,
    cancels: () => cancels,
    async read(length = Number.POSITIVE_INFINITY) {
      let text = ''
      while (text.length < length) {
        const part = await reader.next()
        if (part === undefined) break
        text += part
      }
      return text
    },
  }
}

/** Writes until there is no room left, in turns of the event loop, and returns what was written. */
async function fill({ sink }: Opened): Promise<string> {
  const parts: string[] = []
  let length = 0
  for (let turnsWithoutRoom = 0; turnsWithoutRoom < 20; ) {
    if (sink.hasRoom()) {
      turnsWithoutRoom = 0
      parts.push(PART)
      sink.write(PART)
      length += PART.length
    } else {
      turnsWithoutRoom++
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    if (length > MOST_BUFFERED) throw new Error('the sink has room without end')
  }
  return parts.join('')
}

export const textSinkCases: ReadonlyArray<readonly [title: string, run: (opened: Opened) => Promise<void>]> = [
  [
    'passes on each text before the next one is written, and ends after the last one',
    async ({ sink, read }) => {
      sink.write('data: é🚢\n\n')
      expect(await read('data: é🚢\n\n'.length)).toBe('data: é🚢\n\n')
      sink.write('data: 2\n\n')
      expect(await read(1)).toBe('data: 2\n\n')
      sink.write('data: 3\n\n')
      sink.end()
      expect(await read()).toBe('data: 3\n\n')
    },
  ],
  [
    'ends without text',
    async ({ sink, read }) => {
      sink.end()
      expect(await read()).toBe('')
    },
  ],
  [
    'does not end with a text that is empty',
    async ({ sink, read }) => {
      sink.write('')
      sink.write('data: 1\n\n')
      sink.end()
      expect(await read()).toBe('data: 1\n\n')
    },
  ],
  [
    'has no room while its reader takes nothing, and reports when there is room again',
    async (opened) => {
      const { sink, read, drains } = opened
      const first = await fill(opened)
      const before = drains()
      expect((await read(first.length)) === first).toBe(true)
      await expect.poll(() => sink.hasRoom()).toBe(true)
      expect(drains()).toBeGreaterThan(before)

      const second = await fill(opened)
      sink.end()
      expect((await read()) === second).toBe(true)
    },
  ],
  [
    'keeps what is written without room',
    async (opened) => {
      const { sink, read } = opened
      const text = await fill(opened)
      for (let part = 0; part < 100; part++) sink.write(PART)
      sink.end()
      expect((await read()) === text + PART.repeat(100)).toBe(true)
    },
  ],
  [
    'leaves the event loop to others while a fast reader takes everything',
    async ({ sink, read }) => {
      const reading = read()
      let length = 0
      while (sink.hasRoom()) {
        sink.write(PART)
        length += PART.length
        if (length > MOST_BUFFERED) throw new Error('the sink has room without end')
      }
      expect(length).toBeLessThan(1024 * 1024)
      sink.end()
      expect((await reading).length).toBe(length)
    },
  ],
  [
    'breaks off a stream that fails',
    async ({ sink, next }) => {
      sink.write('data: 1\n\n')
      expect(await next()).toBe('data: 1\n\n')
      sink.fail(new Error('the client stopped reading'))
      await expect(next()).rejects.toThrow()
    },
  ],
  [
    'breaks off a stream that fails while its reader takes nothing',
    async (opened) => {
      await fill(opened)
      opened.sink.fail(new Error('the client stopped reading'))
      await expect(opened.read()).rejects.toThrow()
    },
  ],
  [
    'cancels the stream when its reader leaves',
    async (opened) => {
      const { sink, leave, cancels } = opened
      sink.write('data: 1\n\n')
      await opened.next()
      expect(cancels()).toBe(0)
      leave()
      await expect.poll(cancels).toBeGreaterThan(0)
    },
  ],
  [
    'cancels the stream when its reader leaves while there is no room',
    async (opened) => {
      await fill(opened)
      opened.leave()
      await expect.poll(opened.cancels).toBeGreaterThan(0)
    },
  ],
]

/** What every sink promises to the stream that it takes, and to the reader of the stream. */
export function textSinkContract(harness: TextSinkHarness): void {
  describe(`TextSink: ${harness.name}`, () => {
    for (const [title, run] of textSinkCases) it(title, async () => run(await open(harness)))
  })
}
