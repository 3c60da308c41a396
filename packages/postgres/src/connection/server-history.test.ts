import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Execute } from './connection.ts'
import { openServerHistory } from './server-history.ts'

/** A server as its connections describe it. */
const server = (over: object = {}): Execute => {
  const row = { system: '7', table: '16', timeline: '00000002', position: '10', ...over }
  return async () => ({ rows: [row], changes: 1 }) as never
}

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
    await history.requireTimeline(server())
    for (let time = 0; time < 2; time++) {
      await expect(history.requireTimeline(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)
    }
    expect([warnings.length, history.refused(), history.problem()]).toEqual([1, 2, expect.stringContaining('older')])

    await history.requireTimeline(server())
    await history.requirePosition(server())
    expect(history.problem()).toBeUndefined()
    await expect(history.requireTimeline(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)
    expect(warnings).toHaveLength(2)
  })

  it('compares timelines as hexadecimal numbers', async () => {
    const history = await setUp().open()
    await history.requireTimeline(server({ timeline: '00000009' }))
    await history.requireTimeline(server({ timeline: '0000000A' }))
    await expect(history.requireTimeline(server({ timeline: '00000009' }))).rejects.toMatchObject(NOT_PRIMARY)
    await history.requireTimeline(server({ timeline: '00000010' }))
    await expect(history.requireTimeline(server({ timeline: '0000000F' }))).rejects.toMatchObject(NOT_PRIMARY)
  })

  it('refuses a server that lacks an acknowledged position, unless its timeline is newer', async () => {
    const history = await setUp().open()
    await history.requireTimeline(server())
    history.acknowledged(12)
    await expect(history.requirePosition(server({ position: '11' }))).rejects.toMatchObject(NOT_PRIMARY)
    await history.requirePosition(server({ position: '12' }))

    await history.requireTimeline(server({ timeline: '00000003', position: '11' }))
    await history.requirePosition(server({ timeline: '00000003', position: '11' }))
  })

  it('accepts another server and a restored dump, which are other histories', async () => {
    const history = await setUp().open()
    await history.requireTimeline(server())
    for (const other of [{ system: '8' }, { system: '8', table: '17' }]) {
      await history.requireTimeline(server({ timeline: '00000001', position: '1', ...other }))
      await history.requirePosition(server({ timeline: '00000001', position: '1', ...other }))
    }
  })

  it('closes the connections that are older than a newer timeline, each once, but none that is lost', async () => {
    const history = await setUp().open()
    const closed: string[] = []
    const connection = (name: string, isLost = false) => ({ isLost: () => isLost, close: () => closed.push(name) })
    await history.requireTimeline(server())
    history.closeWhenOlder(connection('lost', true))
    history.closeWhenOlder(connection('one'))
    history.closeWhenOlder(connection('other'))
    await history.requireTimeline(server())
    expect(closed).toEqual([])

    await history.requireTimeline(server({ timeline: '00000003' }))
    await history.requireTimeline(server({ timeline: '00000004' }))
    expect(closed).toEqual(['one', 'other'])
  })

  it('remembers across a restart, and only warns if the file cannot be written or read', async () => {
    const { path, folder, open, warnings } = setUp()
    const history = await open()
    await history.requireTimeline(server())
    history.acknowledged(12)
    await history.save()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ timeline: 2, position: 12 })

    const next = await open()
    await next.requireTimeline(server())
    await expect(next.requirePosition(server({ position: '11' }))).rejects.toMatchObject(NOT_PRIMARY)
    await expect(next.requireTimeline(server({ timeline: '00000001' }))).rejects.toMatchObject(NOT_PRIMARY)

    writeFileSync(path, '{"timeline": 9')
    await (await open()).requireTimeline(server({ timeline: '00000001' }))
    warnings.length = 0
    writeFileSync(join(folder, 'file'), '')
    const unwritable = await open(join(folder, 'file', 'perdure.history'))
    await unwritable.requireTimeline(server())
    await unwritable.requireTimeline(server({ timeline: '00000003' }))
    expect(warnings).toEqual([expect.stringContaining('so a restart forgets the newest primary')])
  })
})
