import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type RunRecord, type Write } from '@perdure/ports'
import { eventReads, runReads } from '@perdure/storage'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConnection, openInlineConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import type { Host } from './host.ts'
import { createWorkerHost, type StorageWorker, startStorageWorker } from './worker-host.ts'

let directory: string
let path: string
let worker: StorageWorker
let host: Host
let fatal: unknown[]
let closed: number

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-worker-'))
  path = join(directory, 'data.db')
  const readFrom = openConnection(path)
  applyMigrations(readFrom.database, { now: () => 0 })
  fatal = []
  closed = 0
  worker = startStorageWorker()
  host = createWorkerHost(worker, {
    ...{ path, synchronous: 'full', readFrom, openInline },
    onFatal: (error) => fatal.push(error),
    onClosed: () => closed++,
  })
})
afterEach(async () => {
  await host.close()
  rmSync(directory, { recursive: true })
})

const openInline = () => openInlineConnection(path, {})

const insert = (id: string): readonly Write[] => [
  { type: 'run.insert', run: aRun({ id }) },
  { type: 'event.append', events: [anEvent({ topic: 'log', type: id })] },
]

const logged = async (): Promise<readonly string[]> => {
  const events = await host.read(eventReads.read, { topic: 'log' }, { after: 0, limit: 1_000 })
  return events.map(({ type }) => type)
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('createWorkerHost', () => {
  it('shows every acknowledged write to later reads', async () => {
    for (let index = 0; index < 20; index++) {
      await host.commit(insert(`run-${index}`))
      expect(await host.read(runReads.find, `run-${index}`, EVERY_ROW)).toBeDefined()
    }
  })

  it('commits queued writes together and in order', async () => {
    const ids = Array.from({ length: 129 }, (_, index) => `run-${index}`)

    const outcomes = await Promise.all(ids.map((id) => host.commit(insert(id))))

    expect(outcomes.map((outcome) => outcome.committed && outcome.events[0]?.position)).toEqual(
      ids.map((_, index) => index + 1),
    )
    expect(await logged()).toEqual(ids)
    expect(host.counters()).toMatchObject({ writes: 129, transactions: 3 })
  })

  it('returns conflicts and errors unchanged, without affecting other writes of the group', async () => {
    const invalid: readonly Write[] = [
      { type: 'run.insert', run: { ...aRun({ id: 'invalid' }), owner: null } as unknown as RunRecord },
    ]

    const settled = await Promise.allSettled(
      [insert('a'), insert('a'), invalid, insert('b')].map((writes) => host.commit(writes)),
    )

    expect(settled).toMatchObject([
      { value: { committed: true } },
      { value: { committed: false, index: 0, conflict: { type: 'run.insert', current: aRun({ id: 'a' }) } } },
      {
        reason: {
          code: 'internal-error',
          cause: expect.objectContaining({ message: expect.stringContaining('NOT NULL') }),
        },
      },
      { value: { committed: true } },
    ])
    expect(await logged()).toEqual(['a', 'b'])
  })

  it('serves reads and keeps the event loop running while a write is blocked', async () => {
    await host.commit(insert('before'))
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    let isWritten = false
    const waiting = host.commit(insert('behind')).then(() => {
      isWritten = true
    })

    for (let turns = 0; turns < 50; turns++) {
      await turn()
      expect(await logged()).toEqual(['before'])
    }
    expect(isWritten).toBe(false)

    other.exec('ROLLBACK')
    other.close()
    await waiting
    expect(await logged()).toEqual(['before', 'behind'])
  })

  it('fails permanently when its thread dies, and reports the failure once', async () => {
    await host.commit(insert('kept'))
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const cut = [host.commit(insert('a')), host.commit(insert('b'))]
    await turn()

    const dying = worker.terminate()
    other.exec('ROLLBACK')
    other.close()
    await dying
    const settled = await Promise.allSettled([...cut, host.commit(insert('c'))])

    expect(settled.map((one) => one.status === 'rejected' && one.reason.code)).toEqual([
      'storage-failed',
      'storage-failed',
      'storage-failed',
    ])
    expect(host.state()).toBe('failed')
    expect(fatal).toHaveLength(1)
    expect(await host.read(runReads.find, 'kept', EVERY_ROW)).toBeDefined()
  })

  it('rejects writes when its thread cannot open the file', async () => {
    const lost = startStorageWorker()
    const readFrom = openConnection(path)
    const blind = createWorkerHost(lost, {
      ...{ path: join(directory, 'no', 'such', 'data.db'), synchronous: 'full', readFrom, openInline },
      onClosed: () => undefined,
    })

    await expect(blind.commit(insert('a'))).rejects.toMatchObject({
      code: 'storage-failed',
      cause: expect.objectContaining({ message: expect.stringContaining('directory does not exist') }),
    })
    await blind.close()
  })

  it('commits queued writes before it closes, and calls onClosed once', async () => {
    const writes = Array.from({ length: 100 }, (_, index) => host.commit(insert(`run-${index}`)))

    await Promise.all([host.close(), host.close()])

    expect((await Promise.all(writes)).every(({ committed }) => committed)).toBe(true)
    expect(closed).toBe(1)
    await expect(host.commit(insert('late'))).rejects.toMatchObject({ code: 'storage-failed' })
  })
})
