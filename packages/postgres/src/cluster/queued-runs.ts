import type { ClaimQuery, ClusterTarget, RunLine, RunRecord } from '@perdure/ports'
import { compile, type Param, RUN_COLUMNS, type RunRow, toRun } from '@perdure/storage'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { earlierClock } from '../query/earlier-clock.ts'

/** Reserves queued runs for the node. */
export async function claimRuns(
  db: Connection,
  { node, targets, held, now, limit }: ClaimQuery & { readonly node: string },
): Promise<readonly RunRecord[]> {
  const values = { node, now, limit, ...targetColumns(targets) }
  const rows = held === undefined ? await db.all(CLAIM, values) : await db.all(CLAIM_LOST_TOO, { ...values, held })
  return rows.map(toRun).toSorted((one, other) => rankOf(one) - rankOf(other))
}

export async function firstInLine(db: Connection, line: RunLine): Promise<RunRecord | undefined> {
  const { targets, owner, now, sessionId = null, concurrencyKey, rateKey } = line
  const values = {
    owner,
    now,
    sessionId,
    concurrencyKey: memberOf('concurrency', concurrencyKey),
    rateKey: memberOf('rate', rateKey),
  }
  const row = await db.get(FIRST_IN_LINE, { ...values, ...targetColumns(targets) })
  return row === undefined ? undefined : toRun(row)
}

/**
 * The member in the text of the stored JSON. It is found as text, because PostgreSQL cannot parse every JSON text; the
 * quotation marks inside of a key are escaped, so no key contains another member.
 */
const memberOf = (name: string, key: string | undefined): string | null =>
  key === undefined ? null : `"${name}":${JSON.stringify(key)}`

export const releaseClaims = async (db: Connection, node: string): Promise<void> =>
  void (await db.run(RELEASE_CLAIMS, { node }))

/** How long a run must wait to go before a new run with a priority that is higher by one. */
const MS_PER_PRIORITY = 10_000

const rankOf = ({ startAt, createdAt, priority = 0 }: RunRecord): number =>
  (startAt ?? createdAt) - priority * MS_PER_PRIORITY

const RANK = sql`coalesce(start_at, created_at) - coalesce(priority, 0) * ${sql.lit(MS_PER_PRIORITY)}, created_at, id`

interface TargetColumns {
  readonly kinds: readonly string[]
  readonly ids: readonly string[]
  /** An empty version stands for the runs without one. */
  readonly versions: readonly string[]
}

const targetColumns = (targets: readonly ClusterTarget[]): TargetColumns => ({
  kinds: targets.map(({ kind }) => kind),
  ids: targets.map(({ id }) => id),
  versions: targets.map(({ version = '' }) => version),
})

const isStartable = (param: Param<TargetColumns & { now: number }>) =>
  sql<SqlBool>`status = 'queued' and coalesce(start_at, 0) <= ${earlierClock(param('now'))}
    and target_id = any(${param('ids')}::text[]) and (kind, target_id, coalesce(version, '')) in (
      select * from unnest(${param('kinds')}::text[], ${param('ids')}::text[], ${param('versions')}::text[]))`

type ClaimValues = TargetColumns & { node: string; now: number; limit: number }

/** Rows that another node claims at this moment are passed over. */
const claimOf = <Values extends ClaimValues>(isFree: (param: Param<Values>) => RawBuilder<unknown>) =>
  compile<Values, RunRow>(
    (param) => sql<RunRow>`update runs set executor = ${param('node')} where id = any(array(
          select id from runs where ${isStartable(param as never)} and (${isFree(param)})
          order by ${RANK} limit ${param('limit')} for update skip locked))
        and status = 'queued' and exists (select from nodes where id = ${param('node')})
        returning ${sql.join(RUN_COLUMNS.map((column) => sql.ref(column)))}`,
  )

const UNCLAIMED = sql`executor is null or not exists (select from nodes where nodes.id = runs.executor)`

const CLAIM = claimOf<ClaimValues>(() => UNCLAIMED)

const CLAIM_LOST_TOO = claimOf<ClaimValues & { held: readonly string[] }>(
  (param) => sql`${UNCLAIMED} or (executor = ${param('node')} and id <> all(${param('held')}::text[]))`,
)

type LineValues = TargetColumns & {
  owner: string
  now: number
  sessionId: string | null
  concurrencyKey: string | null
  rateKey: string | null
}

const FIRST_IN_LINE = compile<LineValues, RunRow>(
  (param) => sql<RunRow>`select ${sql.join(RUN_COLUMNS.map((column) => sql.ref(column)))} from runs
      where ${isStartable(param as never)} and owner = ${param('owner')}
        and (${param('sessionId')}::text is null or session_id = ${param('sessionId')})
        and (${param('concurrencyKey')}::text is null or strpos(flow, ${param('concurrencyKey')}) > 0)
        and (${param('rateKey')}::text is null or strpos(flow, ${param('rateKey')}) > 0)
      order by ${RANK} limit 1`,
)

const RELEASE_CLAIMS = compile<{ node: string }, unknown>(
  (param) => sql`update runs set executor = null where status = 'queued' and executor = ${param('node')}`,
)
