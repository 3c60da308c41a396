import { perdureError, type Refusal } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { createHost, type HostParts } from './create-host.ts'

const insert = (id: string) => [{ type: 'run.insert' as const, run: aRun({ id }) }]

function hostWith(over: Pick<HostParts, 'commit'> & Partial<HostParts>) {
  const db = openConnection(':memory:')
  applyMigrations(db.database, { now: () => 0 })
  const fatal: Refusal[] = []
  const parts = { maxGroupsInFlight: 2, readFrom: db, close: () => void db.database.close() }
  return { host: createHost({ ...parts, onFatal: (error) => fatal.push(error), ...over }), fatal }
}

it.each<[string, HostParts['commit']]>([
  [
    'throws',
    () => {
      throw new TypeError('unexpected')
    },
  ],
  ['rejects', () => Promise.reject(new TypeError('unexpected'))],
])('answers every write with an unknown outcome when the commit %s, and closes afterwards', async (_, commit) => {
  const { host, fatal } = hostWith({ commit })

  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => host.commit(insert(`${n}`))))

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'storage-failed' } })
  }
  expect(fatal).toHaveLength(1)
  expect(fatal[0]?.cause).toEqual(new TypeError('unexpected'))
  expect(host.state()).toBe('failed')
  await host.close()
})

it('answers a write although the callback for a fatal error throws', async () => {
  const thrown: unknown[] = []
  const report = (error: unknown) => void thrown.push(error)
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', report)
  const { host } = hostWith({
    commit: (jobs) => jobs.map(() => ({ error: perdureError('storage-failed') })),
    onFatal() {
      throw new Error('callback')
    },
  })

  await expect(host.commit(insert('a'))).rejects.toMatchObject({ code: 'storage-failed' })

  await expect.poll(() => thrown).toEqual([new Error('callback')])
  process.off('uncaughtException', report)
  for (const listener of listeners) process.on('uncaughtException', listener)
  await host.close()
})

it('rejects a group that was committed after its files were lost, and calls back in order', async () => {
  const calls: string[] = []
  const fault = perdureError('storage-failed', { message: 'The storage stopped: data.db is missing.' })
  const saved = Promise.withResolvers<Refusal>()
  const checks: boolean[] = []
  const { host } = hostWith({
    commit: (jobs) => jobs.map(() => ({ result: { committed: true, events: [], counts: [] } })),
    guard: {
      check(isDue = false) {
        checks.push(isDue)
        return fault
      },
      save: () => saved.promise,
    },
    onFilesLost: () => void calls.push('lost'),
    onFatal: () => void calls.push('fatal'),
    abandon: () => void calls.push('abandoned'),
    close: () => void calls.push('closed'),
  })

  await expect(host.commit(insert('a'))).rejects.toBe(fault)
  await expect(host.commit(insert('b'))).rejects.toBe(fault)
  expect([host.state(), host.problem(), checks]).toEqual(['failed', fault.message, [false]])
  expect(calls).toEqual(['lost'])
  const closing = host.close()
  saved.resolve(perdureError('storage-failed'))
  await closing

  expect(calls).toEqual(['lost', 'fatal', 'abandoned'])
})

it('looks for lost files before it reports an I/O error, because their content can be saved', async () => {
  const reported = perdureError('storage-failed', { message: 'saved' })
  let isLost = false
  const { host, fatal } = hostWith({
    commit(jobs) {
      isLost = true
      return jobs.map(() => ({ error: new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_SHORT_READ') }))
    },
    guard: {
      check: (isDue) => (isLost && isDue ? perdureError('storage-failed') : undefined),
      save: async () => reported,
    },
  })

  await expect(host.commit(insert('a'))).rejects.toMatchObject({ code: 'storage-failed' })
  await host.close()

  expect(fatal).toEqual([reported])
})
