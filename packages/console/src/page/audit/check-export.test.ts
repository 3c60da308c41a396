import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkExport, linesOf, webSha256 } from './check-export.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** A valid chain as exported. */
function chainOf(length: number, from = 1): readonly string[] {
  let prevHash = from === 1 ? '0'.repeat(64) : hashOf('pruned')
  return Array.from({ length }, (_, at) => {
    const content = {
      seq: from + at,
      at: '2026-03-02T09:00:00.000Z',
      action: 'runs.retry',
      detail: { ü: '\u202e', 2: 1 },
    }
    const line = { ...content, prevHash, hash: hashOf(prevHash + JSON.stringify(content)) }
    prevHash = line.hash
    return JSON.stringify(line)
  })
}

async function* streamed(lines: readonly string[]) {
  yield* lines
}

const check = (lines: readonly string[]) => checkExport(streamed(lines), { sha256: webSha256 as never })

const changed = (lines: readonly string[], at: number, change: object) =>
  lines.map((line, index) => (index === at ? JSON.stringify({ ...JSON.parse(line), ...change }) : line))

describe('checkExport', () => {
  it('confirms a valid chain, and names its head', async () => {
    const lines = chainOf(250)

    expect(await check(lines)).toEqual({
      ...{ entries: 250, broken: undefined, blocks: [true, true, true] },
      head: { seq: 250, hash: JSON.parse(lines[249] ?? '').hash },
    })
    expect((await check([])).entries).toBe(0)
  })

  it('accepts a chain whose beginning was pruned', async () => {
    expect(await check(chainOf(3, 40))).toMatchObject({ entries: 3, broken: undefined })
  })

  it.each([
    ['an altered entry', (lines: readonly string[]) => changed(lines, 120, { action: 'other' }), 121, 'entry-altered'],
    ['a removed entry', (lines: readonly string[]) => lines.filter((_, at) => at !== 120), 121, 'entry-missing'],
    [
      'a changed link',
      (lines: readonly string[]) => changed(lines, 120, { prevHash: '0'.repeat(64) }),
      121,
      'link-broken',
    ],
    [
      'a first entry with a predecessor',
      (lines: readonly string[]) => changed(lines, 0, { prevHash: '1'.repeat(64) }),
      1,
      'link-broken',
    ],
    ['a line that is not JSON', (lines: readonly string[]) => lines.with(120, '{'), 121, 'entry-unreadable'],
  ])('finds %s', async (_, damage, seq, reason) => {
    const found = await check(damage(chainOf(400)))

    expect(found.broken).toEqual({ seq, reason })
    expect(found.blocks.at(-1)).toBe(false)
  })
})

describe('linesOf', () => {
  it('puts lines together that arrive in pieces', async () => {
    const bytes = new TextEncoder().encode('{"a":"ü"}\n{"b":1}\n{"c":2}')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })

    const lines: string[] = []
    for await (const line of linesOf(body)) lines.push(line)
    expect(lines).toEqual(['{"a":"ü"}', '{"b":1}', '{"c":2}'])
  })
})
