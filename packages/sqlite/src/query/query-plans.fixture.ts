import type { PageQuery, Visibility } from '@perdure/ports'
import type { Query } from '@perdure/storage'
import { openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { SQLITE } from './dialect.ts'

const db = openConnection(':memory:')
applyMigrations(db.database, { now: () => 0 })

export function planOf(query: Query<never, unknown>): string {
  const sql = query.in(SQLITE).text
  const values = Array.from(sql.matchAll(/\?/g), () => null)
  const steps = db.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}

export const newest: PageQuery = { limit: 50, order: 'desc' }
export const beyond: PageQuery = { limit: 50, order: 'desc', cursor: '1.a' }
export const ME: Visibility = { owner: 'me' }
export const MIXED: Visibility = { owner: 'me', agentIds: ['a', 'b'], workflowIds: 'all' }
