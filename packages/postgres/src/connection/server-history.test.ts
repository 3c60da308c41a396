import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpochMs } from '@perdure/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Execute } from './connection.ts'
import { openServerHistory } from './server-history.ts'

/** A server as its connections describe it. */
const server = (over: object = {}): Execute => {
  const row = { system: '7', table: '16', timeline: '00000002', position: '10', ...over }
  return async () => ({ rows: [row], changes: 1 }) as never
}

const event = (position: number, at = 1) => ({ position, at: at as EpochMs, runId: 'run_1' })

const CONNECTION = { isLost: () => false, close: () => undefined }

/** A server with lineages of these ids. */
const lineages = (...ids: readonly string[]) => ({
  lineages: JSON.stringify(ids.map((id) => ({ id, timeline: '00000002' }))),
})

const NOT_PRIMARY = { code: 'ENOTPRIMARY' }

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-history-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const warnings: string[] = []
  const path = join(folder, 'deep', 'perdure.history')
  const open = (at = path) => openServerHistory({ path: at, onWarning: (text) => void warnings.push(text) })
  return { path, folder, warnings, open }
}

describe('openServerHistory', () => {
  it('refuses a lower timeline, warns once until a server is accepted, and counts each refusal', async () => {
    const { open, warnings } = setUp()
    const history = await open()
    await history.requireSuccessor(server())
    for (let time = 0; time < 2; time++) {
      await expect(history.requireSuccessor(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)
    }
    expect([warnings.length, history.refused(), history.problem()]).toEqual([1, 2, expect.stringContaining('older')])

    await history.requireSuccessor(server())
    await history.accept(server(), CONNECTION)
    expect(history.problem()).toBeUndefined()
    await expect(history.requireSuccessor(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)
    expect(warnings).toHaveLength(2)
  })

  it('compares timelines as hexadecimal numbers', async () => {
    const history = await setUp().open()
    await history.requireSuccessor(server({ timeline: '00000009' }))
    await history.requireSuccessor(server({ timeline: '0000000A' }))
    await expect(history.requireSuccessor(server({ timeline: '00000009' }))).rejects.toMatchObject(NOT_PRIMARY)
    await history.requireSuccessor(server({ timeline: '00000010' }))
    await expect(history.requireSuccessor(server({ timeline: '0000000F' }))).rejects.toMatchObject(NOT_PRIMARY)
  })

  it('refuses a server that lacks an acknowledged position, unless its timeline is newer', async () => {
    const history = await setUp().open()
    await history.requireSuccessor(server())
    history.acknowledged(event(12))
    await expect(history.accept(server({ position: '11' }), CONNECTION)).rejects.toMatchObject(NOT_PRIMARY)
    await history.accept(server({ position: '12' }), CONNECTION)

    await history.requireSuccessor(server({ timeline: '00000003', position: '11' }))
    await history.accept(server({ timeline: '00000003', position: '11' }), CONNECTION)
  })

  it('refuses a server that does not continue the newest lineage, whatever its timeline and position', async () => {
    const history = await setUp().open()
    await history.requireSuccessor(server(lineages('origin')))
    await history.accept(server(lineages('origin', 'one')), CONNECTION)
    const beside = [
      lineages('origin'),
      lineages('origin', 'other'),
      { ...lineages('origin', 'other', 'later'), timeline: '3' },
    ]
    for (const over of beside) {
      const found = server({ position: '99', ...over })
      await expect(history.requireSuccessor(found)).rejects.toMatchObject(NOT_PRIMARY)
      await expect(history.accept(found, CONNECTION)).rejects.toMatchObject(NOT_PRIMARY)
    }

    await history.requireSuccessor(server({ ...lineages('origin', 'one', 'next'), timeline: '00000003' }))
    await expect(history.requireSuccessor(server(lineages('origin', 'one')))).rejects.toMatchObject(NOT_PRIMARY)
  })

  it('refuses a server that has another event at the acknowledged position, also across a restart', async () => {
    const { open } = setUp()
    const history = await open()
    await history.accept(server(lineages('origin')), CONNECTION)
    history.acknowledged(event(12, 5))
    await history.save()
    const asked: unknown[] = []
    const reset = server({ ...lineages('origin'), position: '20', eventThere: '6 run_2' })
    for (const one of [history, await open()]) {
      await expect(one.accept(reset, CONNECTION)).rejects.toMatchObject({
        ...NOT_PRIMARY,
        message: expect.stringContaining('its event at position 12 is not the one'),
      })
    }

    for (const eventThere of ['5 run_1', null]) {
      const same = server({ ...lineages('origin'), position: '20', eventThere })
      await history.accept((statement) => {
        asked.push(...statement.values)
        return same(statement)
      }, CONNECTION)
    }
    expect(asked).toEqual([12, 12])
  })

  it('closes connections from before a new lineage of the same server, but not the one that found it', async () => {
    const history = await setUp().open()
    const closed: string[] = []
    const connection = (name: string) => ({ isLost: () => false, close: () => closed.push(name) })
    const finder = connection('finder')
    await history.accept(server(lineages('origin')), connection('older'))
    await history.accept(server(lineages('origin')), finder)

    await history.accept(server(lineages('origin', 'one')), finder)

    expect(closed).toEqual(['older'])
  })

  it('compares positions with a history of an earlier release, which names no lineage', async () => {
    const { path, open } = setUp()
    const history = await open()
    await history.accept(server(), CONNECTION)
    history.acknowledged(event(12))
    await history.save()
    expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('lineage')

    const next = await open()
    const found = lineages('origin')
    await expect(next.accept(server({ ...found, position: '11' }), CONNECTION)).rejects.toMatchObject(NOT_PRIMARY)
    await next.accept(server({ ...found, position: '12' }), CONNECTION)
  })

  it('accepts the right server if events are acknowledged or its lineage begins while it is read', async () => {
    const { open, warnings } = setUp()
    const history = await open()
    await history.accept(server(lineages('origin')), CONNECTION)
    const during =
      (work: () => unknown, over: object): Execute =>
      async (statement) => {
        const read = await server(over)(statement)
        await work()
        return read
      }

    await history.accept(
      during(() => history.acknowledged(event(11)), lineages('origin')),
      CONNECTION,
    )
    let begins = 1
    const begin = async () => {
      if (begins-- > 0) await history.accept(server({ ...lineages('origin', 'one'), position: '11' }), CONNECTION)
    }
    await history.accept(
      async (statement) =>
        during(begin, { ...(begins > 0 ? lineages('origin') : lineages('origin', 'one')), position: '11' })(statement),
      CONNECTION,
    )

    expect([warnings, history.refused()]).toEqual([[], 0])
    await expect(history.accept(server(lineages('origin', 'one')), CONNECTION)).rejects.toMatchObject(NOT_PRIMARY)
  })

  it('shares a file with other processes, and never puts an older state over a newer one', async () => {
    const { path, folder, open, warnings } = setUp()
    const stored = () => JSON.parse(readFileSync(path, 'utf8'))
    const histories = await Promise.all(Array.from({ length: 8 }, () => open()))
    for (let round = 1; round <= 5; round++) {
      await Promise.all(
        histories.map(async (history, index) => {
          if (round === 1) await history.accept(server(lineages('origin')), CONNECTION)
          history.acknowledged(event(round * 100 + ((index * 5) % 8)))
          await history.save()
        }),
      )
      expect(stored()).toMatchObject({ lineage: 'origin', position: round * 100 + 7 })
    }
    const [ahead, behind] = histories
    await ahead?.accept(server({ ...lineages('origin', 'one'), position: '900' }), CONNECTION)
    behind?.acknowledged(event(2_000))
    await behind?.save()

    expect(stored()).toMatchObject({ lineage: 'one', position: 900 })
    expect(readdirSync(join(folder, 'deep'))).toEqual(['perdure.history'])
    expect(warnings).toEqual([])
  })

  it('writes the file although a process was killed while it wrote it', async () => {
    const { path, open, warnings } = setUp()
    const history = await open()
    await history.accept(server(), CONNECTION)
    writeFileSync(`${path}.lock`, '')
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(`${path}.lock`, longAgo, longAgo)
    history.acknowledged(event(12))

    await history.save()

    expect([JSON.parse(readFileSync(path, 'utf8')).position, warnings]).toEqual([12, []])
  })

  it('accepts another server and a restored dump, which are other histories', async () => {
    const history = await setUp().open()
    await history.requireSuccessor(server())
    for (const other of [{ system: '8' }, { system: '8', table: '17' }]) {
      await history.requireSuccessor(server({ timeline: '00000001', position: '1', ...other }))
      await history.accept(server({ timeline: '00000001', position: '1', ...other }), CONNECTION)
    }
  })

  it('closes the connections that are older than a newer timeline, each once, but none that is lost', async () => {
    const history = await setUp().open()
    const closed: string[] = []
    const connection = (name: string, isLost = false) => ({ isLost: () => isLost, close: () => closed.push(name) })
    await history.requireSuccessor(server())
    await history.accept(server(), connection('lost', true))
    await history.accept(server(), connection('one'))
    await history.accept(server(), connection('other'))
    await history.requireSuccessor(server())
    expect(closed).toEqual([])

    await history.requireSuccessor(server({ timeline: '00000003' }))
    await history.requireSuccessor(server({ timeline: '00000004' }))
    expect(closed).toEqual(['one', 'other'])
  })

  it('remembers across a restart, and only warns if the file cannot be written or read', async () => {
    const { path, folder, open, warnings } = setUp()
    const history = await open()
    await history.requireSuccessor(server())
    history.acknowledged(event(12))
    await history.save()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ timeline: 2, position: 12 })

    const next = await open()
    await next.requireSuccessor(server())
    await expect(next.accept(server({ position: '11' }), CONNECTION)).rejects.toMatchObject(NOT_PRIMARY)
    await expect(next.requireSuccessor(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)

    writeFileSync(path, '{"timeline": 9')
    await (await open()).requireSuccessor(server({ timeline: '00000001' }))
    warnings.length = 0
    writeFileSync(join(folder, 'file'), '')
    const unwritable = await open(join(folder, 'file', 'perdure.history'))
    await unwritable.requireSuccessor(server())
    await unwritable.requireSuccessor(server({ timeline: '00000003' }))
    expect(warnings).toEqual([expect.stringContaining('so a restart forgets the newest primary')])
  })
})
