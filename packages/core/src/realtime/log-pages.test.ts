import type { EventRange, JsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import { createLogPages } from './log-pages.ts'

const SOURCE: EventSource = { stream: { sessionId: 'ses_1' }, subject: 'session:ses_1/events', epoch: 'e1' }
const OTHER: EventSource = { ...SOURCE, subject: 'session:ses_2/events', stream: { sessionId: 'ses_2' } }

const anEvent = (position: number, bytes = 10): DeliveredEvent => ({
  ...{ position, type: 'text.delta' },
  envelope: 'x'.repeat(bytes) as JsonText,
})

/** A log of `count` events of one size, read in pages of at most `pageLength`. */
function setUp({ count = 100, pageLength = 10, bytes = 10 } = {}) {
  let head = count
  let generation = 0
  const reads: string[] = []
  const pages = createLogPages({
    async readLog({ subject }: EventSource, { after }: EventRange) {
      reads.push(`${subject} ${after}`)
      const last = Math.min(head, after + pageLength)
      return Array.from({ length: Math.max(0, last - after) }, (_, index) => anEvent(after + index + 1, bytes))
    },
    generation: () => generation,
  })
  const read = async (after: number, { limit = 64, source = SOURCE } = {}) =>
    (await pages.read(source, { after, limit })).map(({ position }) => position)
  return {
    ...{ pages, read, reads },
    append: () => void head++,
    deleteSomething: () => void generation++,
  }
}

describe('createLogPages', () => {
  it('reads a page once for all subscribers at the same position', async () => {
    const { read, reads } = setUp()

    const all = await Promise.all([read(0), read(0), read(0)])

    expect(all).toEqual(Array(3).fill([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    expect(reads).toEqual(['session:ses_1/events 0'])
  })

  it('serves a subscriber that starts inside a page up to the end of that page', async () => {
    const { read, reads } = setUp()
    await read(0)

    expect(await read(3)).toEqual([4, 5, 6, 7, 8, 9, 10])
    expect(await read(3, { limit: 2 })).toEqual([4, 5])
    await read(10)
    await read(10)

    expect(reads).toEqual(['session:ses_1/events 0', 'session:ses_1/events 10'])
  })

  it('reads separate pages for each subject', async () => {
    const { read, reads } = setUp()
    await read(0)
    await read(0, { source: OTHER })

    expect(reads).toEqual(['session:ses_1/events 0', 'session:ses_2/events 0'])
  })

  it('returns events that are appended after the end of a page', async () => {
    const { read, append } = setUp({ count: 3 })
    expect(await read(0)).toEqual([1, 2, 3])
    expect(await read(3)).toEqual([])
    append()

    expect(await read(3)).toEqual([4])
  })

  it('returns events that are appended while another subscriber reads the end of the log', async () => {
    const { pages, read, append } = setUp({ count: 0 })
    const first = pages.read(SOURCE, { after: 0, limit: 64 })
    append()
    const second = read(0)

    expect(await first).toEqual([])
    expect(await second).toEqual([1])
  })

  it('finds a page among the pages of thousands of sources as fast as among a few', async () => {
    const { pages } = setUp({ count: 1 })
    const sourceOf = (n: number): EventSource => ({ ...SOURCE, stream: { runId: `run_${n}` } })
    const readAll = async (from: number, to: number) => {
      const start = performance.now()
      for (let n = from; n < to; n++) await pages.read(sourceOf(n), { after: 0, limit: 64 })
      return performance.now() - start
    }
    const withFew = await readAll(0, 1_000)
    await readAll(1_000, 30_000)
    const withMany = [await readAll(30_000, 31_000), await readAll(31_000, 32_000), await readAll(32_000, 33_000)]

    expect(Math.min(...withMany)).toBeLessThan(5 * withFew + 20)
  })

  it('evicts the pages of one source', async () => {
    const { pages, read, reads } = setUp()
    await read(0)
    await read(10)
    await read(0, { source: OTHER })

    pages.evict(SOURCE)
    await read(0)
    await read(10)
    await read(0, { source: OTHER })

    expect(reads).toHaveLength(5)
  })

  it('evicts every page after a deletion, including one that is being read', async () => {
    const { read, reads, deleteSomething } = setUp()
    await read(0)
    deleteSomething()
    const pending = read(0)
    deleteSomething()
    await Promise.all([pending, read(0, { source: OTHER })])
    await read(0)

    expect(reads.filter((one) => one === 'session:ses_1/events 0')).toHaveLength(3)
  })

  it('evicts the oldest page above 16 MiB', async () => {
    const { read, reads } = setUp({ pageLength: 8, bytes: 2 ** 20 })
    await read(0)
    await read(8)
    await read(16)

    await read(8)
    await read(0)

    expect(reads).toHaveLength(5)
  })

  it('keeps the newest pages', async () => {
    const { read, reads } = setUp({ pageLength: 8, bytes: 2 ** 19 })
    await read(0)
    await read(8)
    await read(16)
    await read(24)

    await read(8)
    await read(16)

    expect(reads).toHaveLength(4)
  })
})
