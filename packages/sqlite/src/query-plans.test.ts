import { EVERY_ROW, type PageQuery, type RunFilter, type Visibility } from '@berth/ports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { READ_AFTER, READ_BEFORE } from './event-log.ts'
import { applyMigrations } from './migrate.ts'
import type { Query } from './query.ts'
import { listQuery } from './run-store.ts'
import { sessionListQuery } from './session-store.ts'

let db: Connection

beforeAll(() => {
  db = openConnection(':memory:')
  applyMigrations(db.database, { now: () => 0 })
})
afterAll(() => void db.database.close())

function planOf({ sql }: Query<never, unknown>): string {
  const values = Array.from(sql.matchAll(/\?/g), () => null)
  const steps = db.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}

const newest: PageQuery = { limit: 50, order: 'desc' }
const beyond: PageQuery = { limit: 50, order: 'desc', cursor: '1.a' }
const ME: Visibility = { owner: 'me' }
const MIXED: Visibility = { owner: 'me', agentIds: ['a', 'b'], workflowIds: 'all' }

describe('the list of runs', () => {
  const lists: readonly (readonly [index: string, RunFilter, Visibility])[] = [
    ['runs_by_creation', {}, EVERY_ROW],
    ['runs_by_creation', { statuses: ['completed'] }, EVERY_ROW],
    ['runs_by_creation', {}, MIXED],
    ['runs_by_creation', {}, { agentIds: ['a', 'b'] }],
    ['runs_by_creation', {}, { agentIds: 'all' }],
    ['runs_by_owner', {}, ME],
    ['runs_by_target', { targetId: 'echo', kind: 'agent' }, EVERY_ROW],
    ['runs_by_target', { targetId: 'echo', kind: 'agent' }, ME],
    ['runs_by_target', {}, { agentIds: ['echo'] }],
    ['runs_by_session', { sessionId: 'ses' }, EVERY_ROW],
    ['runs_by_session', { sessionId: 'ses' }, ME],
    ['runs_active', { statuses: ['queued'] }, EVERY_ROW],
    ['runs_active', { statuses: ['running'] }, ME],
    ['runs_active', { statuses: ['queued'], targetId: 'echo' }, EVERY_ROW],
    ['runs_unsuccessful', { statuses: ['failed'] }, EVERY_ROW],
  ]

  it.each(lists)('walks %s in its order for %o as seen by %o', (index, filter, visibility) => {
    for (const page of [newest, beyond]) {
      const plan = planOf(listQuery({ filter, page, visibility }))

      expect(plan).toContain(`USING INDEX ${index}`)
      expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
    }
  })

  it('sorts no more than the active runs for several active statuses', () => {
    const plan = planOf(listQuery({ filter: { statuses: ['queued', 'running'] }, page: newest, visibility: EVERY_ROW }))

    expect(plan).toContain('USING INDEX runs_active')
  })

  it('looks up the runs a caller may see by id', () => {
    const plan = planOf(listQuery({ filter: {}, page: newest, visibility: { ids: ['a', 'b'] } }))

    expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY')
  })
})

describe('the list of sessions', () => {
  it.each([
    ['sessions_by_creation', EVERY_ROW],
    ['sessions_by_creation', MIXED],
    ['sessions_by_owner', ME],
  ] as const)('walks %s in its order as seen by %o', (index, visibility) => {
    const plan = planOf(sessionListQuery({ page: beyond, visibility }))

    expect(plan).toContain(`USING INDEX ${index}`)
    expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
  })
})

describe('the event log', () => {
  it.each(['run', 'session', 'topic'] as const)('goes straight to a position in the stream of a %s', (carrier) => {
    expect(planOf(READ_AFTER[carrier])).toMatch(new RegExp(`events_by_${carrier} \\(\\w+=\\? AND rowid>\\?\\)`))
    expect(planOf(READ_BEFORE[carrier])).toMatch(new RegExp(`events_by_${carrier} \\(\\w+=\\? AND rowid<\\?\\)`))
  })
})
