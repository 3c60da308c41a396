import type { Duty, EpochMs, NodeDirectory, NodeRecord } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import type { Membership } from './membership.ts'

/** Reads what the members of the cluster tell about themselves. */
export function createNodeDirectory(
  db: Connection,
  { leaseLeftMs, onDrainRequested }: Pick<Membership, 'leaseLeftMs' | 'onDrainRequested'>,
): NodeDirectory {
  return {
    list: async () => (await db.all(LIST, {})).map(toNode),
    requestDrain: async (id) => (await db.run(REQUEST_DRAIN, { id })).changes > 0,
    onDrainRequested,
    async load() {
      const row = await db.get(LOAD, {})
      return { queued: row?.queued ?? 0, oldestMs: row?.oldest_ms ?? 0, withoutCode: row?.without_code ?? 0 }
    },
    leaseMs: leaseLeftMs,
  }
}

interface NodeRow {
  readonly id: string
  readonly name: string
  readonly version: string | null
  readonly settings: string
  readonly declares: readonly string[] | null
  readonly started_ms: number
  readonly lease_ms: number
  readonly is_draining: boolean
  readonly runs: number
  readonly duties: readonly Duty[]
}

const toNode = (row: NodeRow): NodeRecord => ({
  ...{ id: row.id, name: row.name, version: row.version ?? undefined, settings: JSON.parse(row.settings) },
  declares: row.declares ?? undefined,
  ...{ startedAt: row.started_ms as EpochMs, leaseMs: row.lease_ms, isDraining: row.is_draining },
  ...{ runs: row.runs, duties: row.duties },
})

const LIVING = sql`role = 'member' and lease_until > clock_timestamp()`

const LIST = compile<object, NodeRow>(
  () => sql<NodeRow>`select id, name, version, settings, declares, is_draining or drain_requested as is_draining,
        (extract(epoch from started_at) * 1000)::bigint as started_ms,
        (extract(epoch from lease_until - clock_timestamp()) * 1000)::bigint as lease_ms,
        (select count(*) from runs where status = 'running' and executor = nodes.id)::integer as runs,
        array(select duties.name from duties where node = nodes.id order by duties.name) as duties
      from nodes where ${LIVING} order by started_at, id`,
)

const REQUEST_DRAIN = compile<{ id: string }, unknown>(
  (param) => sql`update nodes set drain_requested = true where id = ${param('id')} and ${LIVING}`,
)

interface LoadRow {
  readonly queued: number
  readonly oldest_ms: number
  readonly without_code: number
}

/** Runs that start later do not wait for a slot. */
const LOAD = compile<object, LoadRow>(
  () => sql<LoadRow>`with times as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now),
      waiting as (
        select coalesce(start_at, created_at) as since, kind || ' ' || target_id || ' ' || coalesce(version, '') as target
        from runs, times where status = 'queued' and coalesce(start_at, 0) <= now),
      known as (select distinct unnest(targets) as target from nodes where ${LIVING})
      select count(*)::integer as queued, greatest(0, max(now - since))::bigint as oldest_ms,
        count(*) filter (where target not in (select target from known))::integer as without_code
      from waiting, times`,
)
