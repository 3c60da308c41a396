import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs, NewAuditEntry, UnitOfWork } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { aRequest, createTestAudit, flushPromises } from './audit.fixture.ts'
import { createExportAudit, csvRow } from './export-audit.ts'
import { createListAudit } from './read-audit.ts'

const at = (seq: number) => (1_700_000_000_000 + seq * 1_000) as EpochMs
const iso = (seq: number) => new Date(at(seq)).toISOString()

async function setUp(count: number) {
  const { unitOfWork, audit } = createInMemoryStorage()
  const entryOf = (n: number): NewAuditEntry => ({
    at: at(n),
    actor:
      n % 2 === 0 ? { kind: 'token', id: 'tok_2', subject: 'even' } : { kind: 'token', id: 'tok_1', subject: 'odd' },
    action: n % 700 === 0 ? 'rare' : 'common',
    decision: 'allowed',
    target: '=1+1',
  })
  await unitOfWork.commit(
    Array.from({ length: count }, (_, index) => ({ type: 'audit.append', entry: entryOf(index + 1) }) as const),
  )
  let pauses = 0
  const pause = async () => {
    pauses += 1
  }
  const deps = { chain: audit, pause }
  return { list: createListAudit(deps), deps, unitOfWork, pauses: () => pauses }
}

describe('listAudit', () => {
  it('pages through all entries in both orders', async () => {
    const { list } = await setUp(7)
    for (const order of ['asc', 'desc'] as const) {
      const seqs: number[] = []
      let cursor: string | undefined
      do {
        const page = await list({}, { limit: 3, cursor, order })
        seqs.push(...page.items.map(({ seq }) => seq))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(seqs).toEqual(order === 'asc' ? [1, 2, 3, 4, 5, 6, 7] : [7, 6, 5, 4, 3, 2, 1])
    }
  })

  it('ends a page at 4 MiB of content', async () => {
    const { list, unitOfWork } = await setUp(1)
    const large = (seq: number): NewAuditEntry => ({
      ...{ at: at(seq), actor: { kind: 'token', id: 'tok_1', subject: 'odd' }, action: 'common', decision: 'allowed' },
      target: 'x'.repeat(1_500_000),
    })
    for (const seq of [2, 3, 4]) await unitOfWork.commit([{ type: 'audit.append', entry: large(seq) }])

    const first = await list({}, { limit: 200, order: 'asc' })
    const second = await list({}, { limit: 200, order: 'asc', cursor: first.nextCursor ?? undefined })

    expect([first, second].map(({ items }) => items.map(({ seq }) => seq))).toEqual([[1, 2, 3], [4]])
    expect(second.nextCursor).toBeNull()
  })

  it('returns no cursor after a full last page', async () => {
    const { list } = await setUp(4)

    expect((await list({}, { limit: 4, order: 'asc' })).nextCursor).toBeNull()
  })

  it('finds matches that are far apart, and yields to other work between reads', async () => {
    const { list, pauses } = await setUp(2_200)

    const { items, nextCursor } = await list({ action: 'rare' }, { limit: 50, order: 'desc' })
    expect(items.map(({ seq }) => seq)).toEqual([2_100, 1_400, 700])
    expect([nextCursor, pauses()]).toEqual([null, 4])
  })

  it.each([
    [{ actor: 'odd' }, [1, 3, 5]],
    [{ actor: 'tok_2' }, [2, 4]],
    [{ since: iso(4) }, [4, 5]],
    [{ until: iso(4) }, [1, 2, 3]],
    [{ since: iso(2), until: iso(5), actor: 'odd' }, [3]],
    [{ action: 'nothing' }, []],
  ])('filters by %j', async (filter, expected) => {
    const { list } = await setUp(5)

    expect((await list(filter, { limit: 50, order: 'asc' })).items.map(({ seq }) => seq)).toEqual(expected)
  })

  it('rejects a cursor from another list', async () => {
    const { list } = await setUp(1)

    await expect(list({}, { limit: 5, cursor: 'e1.5', order: 'asc' })).rejects.toMatchObject({
      code: 'validation-failed',
    })
  })
})

describe('createAudit with a file that another process has locked', () => {
  it('stops trying to write pending entries after two seconds, then reads the stored entries', async () => {
    const storage = createInMemoryStorage()
    const held = Promise.withResolvers<never>()
    let isHeld = false
    const unitOfWork: UnitOfWork = { commit: (writes) => (isHeld ? held.promise : storage.unitOfWork.commit(writes)) }
    const { audit, clock } = createTestAudit({ file: { ...storage, unitOfWork } })
    audit.onAnswer(aRequest())
    expect((await audit.listAudit({}, { limit: 10, order: 'asc' })).items).toHaveLength(1)

    isHeld = true
    audit.onAnswer(aRequest())
    const answers = Promise.all([audit.listAudit({}, { limit: 10, order: 'asc' }), audit.verifyAudit(undefined)])
    let isAnswered = false
    void answers.then(() => {
      isAnswered = true
    })
    clock.advance(1_999)
    await flushPromises()
    expect(isAnswered).toBe(false)
    clock.advance(1)

    const ticking = setInterval(() => clock.advance(0))
    const [list, verification] = await answers
    clearInterval(ticking)
    expect([list.items.length, verification.ok]).toEqual([1, true])
  })
})

describe('exportAudit', () => {
  const exported = async (format: 'ndjson' | 'csv', count = 3) => {
    const { deps, unitOfWork } = await setUp(count)
    const clock = { now: () => at(99), monotonicMs: () => 0 }
    const exportAudit = createExportAudit({ ...deps, unitOfWork, clock, flush: async () => undefined })
    const { chunks, ...head } = await exportAudit({ format, filter: {}, principal: { subject: 'ann' } })
    let text = ''
    for await (const chunk of chunks) text += chunk
    return { ...head, text }
  }

  it('writes one line per entry, including the entry of the export itself', async () => {
    const { text, contentType, fileName } = await exported('ndjson')
    const entries = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

    expect([contentType, fileName]).toEqual(['application/x-ndjson; charset=utf-8', 'audit.ndjson'])
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(entries.at(-1)).toMatchObject({
      action: 'audit.export',
      actor: { subject: 'ann' },
      detail: { format: 'ndjson' },
    })
    expect(entries[1]).toMatchObject({ prevHash: entries[0].hash, at: iso(2) })
  })

  it('writes CSV without cells that a spreadsheet would interpret as a formula', async () => {
    const [header, first] = (await exported('csv')).text.split('\r\n')

    expect(header).toBe(
      'seq,at,actorKind,actorId,actorSubject,action,method,route,target,decision,status,durationMs,requestId,ip,detail,prevHash,hash',
    )
    expect(first).toMatch(/^1,2023-[^,]+,token,tok_1,odd,common,,,'=1\+1,allowed,,,,,,0{64},[0-9a-f]{64}$/)
  })

  it('exports every entry of a chain that is longer than a page', async () => {
    expect((await exported('ndjson', 1_500)).text.split('\n')).toHaveLength(1_502)
  })
})

describe('csvRow', () => {
  it.each([
    [['plain', 1, undefined, null], 'plain,1,,'],
    [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"'],
    [['=1', '+1', '-1', '@x', '\tx', '\0x'], "'=1,'+1,'-1,'@x,'\tx,'\0x"],
    [['\rx'], '"\'\rx"'],
    [[-5, { a: '=1' }], '-5,"{""a"":""=1""}"'],
  ])('writes %j', (cells, expected) => {
    expect(csvRow(cells)).toBe(`${expected}\r\n`)
  })
})
