import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpochMs, RunChange, Write } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Connection, openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { SQLITE } from '../query/dialect.ts'
import { commitGroup } from './commit-group.ts'
import { createHost } from './create-host.ts'
import { createReserve } from './reserve.ts'
import { createUpkeep } from './upkeep.ts'

/** A host on a disk whose free space and reserve the test controls. */
function setUp() {
  const db = openConnection(':memory:')
  applyMigrations(db.database, { now: () => 0 })
  const disk = { hasRoom: true, hasReserve: true }
  const connection: Connection = {
    ...db,
    run(query, values) {
      if (query.in(SQLITE).text === 'COMMIT' && !disk.hasRoom) throw new Database.SqliteError('injected', 'SQLITE_FULL')
      return db.run(query, values)
    },
  }
  const host = createHost({
    commit: (jobs) => commitGroup(connection, jobs),
    ...{ maxGroupsInFlight: 1, readFrom: db, close: () => void db.database.close() },
    reserve: {
      async release() {
        if (disk.hasReserve) disk.hasRoom = true
        disk.hasReserve = false
      },
      async refill() {
        return disk.hasReserve
      },
    },
  })
  onTestFinished(() => host.close())
  return { host, disk }
}

const change: RunChange = { status: 'completed', finishReason: 'completed', completedAt: 1 as EpochMs }
const end: readonly Write[] = [
  { type: 'run.transition', runId: aRun().id, from: ['running', 'queued'], attempt: aRun().attempt, change },
  { type: 'event.append', events: [anEvent({ topic: 'log' })] },
]
const begin: readonly Write[] = [{ type: 'run.insert', run: aRun({ id: 'later' }) }]

describe('a host on a full disk', () => {
  it('rejects new runs, records the end of runs, and resumes once there is space', async () => {
    const { host, disk } = setUp()
    await host.commit([{ type: 'run.insert', run: aRun({ status: 'running' }) }])
    disk.hasRoom = false
    await expect(host.commit(begin)).rejects.toMatchObject({ code: 'storage-full' })

    await expect(host.commit(begin)).rejects.toMatchObject({ code: 'storage-full' })
    expect(await host.commit(end)).toMatchObject({ committed: true })
    await host.checkDisk()
    expect(host.state()).toBe('full')
    disk.hasReserve = true
    await host.checkDisk()
    expect(host.state()).toBe('open')
    expect(await host.commit(begin)).toMatchObject({ committed: true })
  })
})

const FREEING: readonly Write[] = [
  { type: 'event.delete', positions: [1] },
  { type: 'fact.delete', id: 'fact_1', revision: 1 },
  { type: 'mcp-server.delete', id: 'files' },
  { type: 'trigger.delete', id: 'nightly' },
]

it.each(FREEING)('commits $type on a full disk', async (write) => {
  const { host, disk } = setUp()
  disk.hasRoom = false
  await expect(host.commit(begin)).rejects.toMatchObject({ code: 'storage-full' })

  await expect(host.commit([write])).resolves.toBeDefined()
})

describe('the reserve', () => {
  it('is created, released and created again while there is space', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perdure-reserve-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'data.db')
    writeFileSync(path, '')
    const reserve = createReserve(path, 4_096)
    const size = () => statSync(`${path}.ballast`, { throwIfNoEntry: false })?.size

    expect([await reserve.refill(), size()]).toEqual([true, 4_096])
    expect(statSync(`${path}.ballast`).mode & 0o077).toBe(0)
    await reserve.release()
    expect(size()).toBeUndefined()
    expect([await reserve.refill(), size()]).toEqual([true, 4_096])
  })

  it('is skipped on a disk that is too small for it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perdure-reserve-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))

    expect(await createReserve(join(directory, 'data.db'), Number.MAX_SAFE_INTEGER).refill()).toBe(true)
  })
})

describe('upkeep', () => {
  it('truncates the log if nothing was written since the last checkpoint, and otherwise only checkpoints', async () => {
    const truncations: boolean[] = []
    let transactions = 0
    const checkDisk = async () => undefined
    const work = createUpkeep({
      host: { checkDisk, state: () => 'open', counters: () => ({ transactions, writes: 0 }) },
      checkpoint: async (truncate) => truncations.push(truncate),
      ...{ walBytes: () => 1, storeMark: checkDisk, measureFreeSpace: checkDisk },
    })
    const pass = async () => {
      for (let round = 0; round < 15; round++) await work()
    }

    await pass()
    transactions++
    await pass()
    await pass()

    expect(truncations).toEqual([true, false, true])
  })

  it('checks the disk in every round while the disk is full', async () => {
    let checks = 0
    const work = createUpkeep({
      host: {
        checkDisk: async () => void checks++,
        state: () => 'full',
        counters: () => ({ transactions: 0, writes: 0 }),
      },
      ...{ checkpoint: async () => undefined, walBytes: () => 0, measureFreeSpace: async () => undefined },
      storeMark: async () => undefined,
    })

    for (let round = 0; round < 5; round++) await work()

    expect(checks).toBe(5)
  })

  it('leaves no file in the folder of a database that has vanished with its disk', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perdure-reserve-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    await createReserve(join(directory, 'data.db'), 4_096).refill()

    expect(readdirSync(directory)).toEqual([])
  })
})
