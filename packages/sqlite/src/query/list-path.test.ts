import { EVERY_ROW, type RunFilter, type Visibility } from '@perdure/ports'
import { type Db, runNow } from '@perdure/storage'
import { runReads, sessionReads } from '@perdure/storage/queries'
import { aRun, aSession } from '@perdure/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { applyCommit } from '../host/commit-group.ts'
import { SQLITE } from './dialect.ts'

const page = { limit: 5, order: 'desc' } as const
const RARE = 3

let connection: Connection
let db: Db
const queries: string[] = []
const bound: unknown[][] = []

/** Runs and sessions of which all have `env`, and a few have each of the other values. */
beforeAll(() => {
  connection = openConnection(':memory:')
  applyMigrations(connection.database, { now: () => 0 })
  const { each } = connection.db
  db = {
    ...connection.db,
    each(query, values) {
      queries.push(query.in(SQLITE).text)
      bound.push(query.in(SQLITE).bind(values))
      return each(query, values)
    },
  }
  for (let n = 0; n < 50; n++) {
    const rare = n < RARE
    const values = {
      userId: rare ? 'ada' : 'bob',
      owner: rare ? 'tiny' : 'large',
      metadata: { env: 'prod', ...(rare ? { ticket: '17' } : {}) },
    }
    const run = aRun({ id: `run_${n}`, ...values, targetId: rare ? 'reports' : 'echo', status: 'failed' })
    const session = aSession({ id: `ses_${n}`, ...values })
    applyCommit(connection, [
      { type: 'run.insert', run },
      { type: 'session.insert', session },
    ])
  }
})
afterAll(() => void connection.database.close())

const INDEX =
  /(?:using (?:index )?)?(run_fields|session_fields|runs_by_owner|runs_by_target|sessions_by_user|sessions_by_owner)/i

/** The index that the list walks first, and the number of its rows. */
function walkedBy(
  list: () => { readonly items: readonly unknown[] },
): readonly [index: string | undefined, rows: number] {
  queries.length = 0
  bound.length = 0
  const { items } = list()
  const [sql = ''] = queries
  const values = Array.from(sql.matchAll(/\?/g), () => null)
  const steps = connection.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]
  return [INDEX.exec(steps[0]?.detail ?? '')?.[1], items.length]
}

describe('a list with several indexes to choose from', () => {
  const runs: readonly (readonly [string, RunFilter, Visibility])[] = [
    ['runs_by_owner', { metadata: { env: 'prod' }, owner: 'tiny' }, EVERY_ROW],
    ['run_fields', { metadata: { ticket: '17' }, owner: 'large', userId: 'ada' }, EVERY_ROW],
    ['runs_by_owner', { metadata: { env: 'prod' } }, { owner: 'tiny' }],
    ['runs_by_owner', { targetId: 'echo', statuses: ['failed'] }, { owner: 'tiny' }],
    ['runs_by_target', { targetId: 'reports', statuses: ['failed'] }, { owner: 'large' }],
    ['runs_by_target', { metadata: { env: 'prod' } }, { agentIds: ['reports'] }],
  ]

  it.each(runs)('walks %s for the runs of filter %o and visibility %o', (index, filter, visibility) => {
    expect(walkedBy(() => runNow(runReads.list(db, filter, page, visibility)))[0]).toBe(index)
  })

  it('walks the field with the fewest rows, wherever the filter names it', () => {
    const ticketFirst: Readonly<Record<string, string>> = { ticket: '17', env: 'prod' }
    for (const metadata of [ticketFirst, { env: 'prod', ticket: '17' }]) {
      const [index] = walkedBy(() => runNow(runReads.list(db, { metadata }, page, EVERY_ROW)))
      const [sql = ''] = queries
      const before = sql.slice(0, sql.indexOf('"run_fields"."field" = ')).split('?').length - 1
      expect([index, bound[0]?.[before]]).toEqual(['run_fields', 'metadata.ticket'])
    }
  })

  it.each([
    ['session_fields', { metadata: { ticket: '17' }, userId: 'ada' }, EVERY_ROW],
    ['sessions_by_user', { metadata: { env: 'prod' }, userId: 'ada' }, EVERY_ROW],
    ['sessions_by_owner', { metadata: { env: 'prod' } }, { owner: 'tiny' }],
  ] as const)('walks %s for the sessions of filter %o and visibility %o', (index, filter, visibility) => {
    expect(walkedBy(() => runNow(sessionReads.list(db, filter, page, visibility)))).toEqual([index, RARE])
  })
})
