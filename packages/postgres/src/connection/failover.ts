import { randomUUID } from 'node:crypto'
import { POSTGRES } from '../query/dialect.ts'
import { LOCKS } from '../query/locks.ts'
import { LINEAGES, type Lineage, parseLineages, withLineage } from './lineage.ts'
import type { Session } from './session.ts'

/** A server writes fewer positions per second than this. */
const POSITIONS_PER_SECOND = 200_000
const LEAST_JUMP = 1_000_000

interface Origin {
  /** Identifies the database server and its copies, such as standbys. */
  readonly system: string
  /** Changes when a standby is promoted, and after a recovery to a moment in the past. */
  readonly timeline: string
  /** Identifies the table `meta`: a dump that is restored creates another one, also on the same server. */
  readonly table: string
}

interface Compared {
  readonly found: Origin
  /** The origin of the newest events; its members are null in a new schema. */
  readonly stored: { readonly [Member in keyof Origin]: string | null }
  readonly lineages: readonly Lineage[]
}

/**
 * Compares the server with the one that wrote the newest events, and protects cursors if it is another one.
 *
 * A promoted standby may lack the last events, whose positions clients have seen. The log then continues at a position
 * that no event has used. A restored dump is another history: it gets a new epoch, so that older cursors get a gap.
 * Each change of the server begins a lineage.
 */
export async function followServer(session: Session): Promise<void> {
  if (isSame(await compare(session))) return
  await execute(session, 'begin')
  try {
    await execute(session, LOCKS.log.in(POSTGRES).text)
    // Another process may have been faster.
    const { found, stored, lineages } = await compare(session)
    const differs = (member: keyof Origin) => stored[member] !== null && stored[member] !== found[member]
    if (differs('system') || differs('table')) await execute(session, NEW_EPOCH)
    else if (differs('timeline')) await execute(session, JUMP)
    const isBegun = differs('system') || differs('table') || lineages.at(-1)?.timeline !== found.timeline
    const next = isBegun ? withLineage(lineages, { id: randomUUID(), timeline: found.timeline }) : undefined
    await execute(session, STORE, [found.system, found.timeline, found.table, next ?? JSON.stringify(lineages)])
    await execute(session, 'commit')
  } catch (error) {
    await execute(session, 'rollback').catch(() => undefined)
    throw error
  }
}

/** A process of an earlier release stores no lineage. */
const isSame = ({ found, stored, lineages }: Compared): boolean =>
  found.system === stored.system &&
  found.timeline === stored.timeline &&
  found.table === stored.table &&
  lineages.at(-1)?.timeline === found.timeline

async function compare(session: Session): Promise<Compared> {
  const { rows } = await execute(session, COMPARE)
  const row = rows[0] as Record<string, string> & Origin
  const { system, timeline, table, storedSystem = null, storedTimeline = null, storedTable = null } = row
  const lineages = parseLineages(row.lineages)
  return {
    found: { system, timeline, table },
    stored: { system: storedSystem, timeline: storedTimeline, table: storedTable },
    lineages,
  }
}

const execute = (session: Session, text: string, values: unknown[] = []) => session.execute({ text, values })

/** The first eight digits in the name of a file of the write-ahead log are the timeline. */
const COMPARE = `select (select system_identifier::text from pg_control_system()) as "system",
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as "timeline",
  (select value from meta where name = 'system') as "storedSystem",
  'meta'::regclass::oid::text as "table",
  (select value from meta where name = 'timeline') as "storedTimeline",
  (select value from meta where name = 'table') as "storedTable",
  (select value from meta where name = '${LINEAGES}') as "lineages"`

const STORE = `insert into meta (name, value) values ('system', $1), ('timeline', $2), ('table', $3), ('${LINEAGES}', $4)
  on conflict (name) do update set value = excluded.value`

const NEW_EPOCH = `update meta set value = substr(replace(gen_random_uuid()::text, '-', ''), 1, 16) where name = 'epoch'`

/** An event in no stream, behind everything that may have been lost since the newest event. */
const JUMP = `insert into events (position, type, at, payload)
  select position + ${LEAST_JUMP} + ${POSITIONS_PER_SECOND} * greatest(0, ceil((now_ms - at) / 1000.0))::bigint, '', now_ms, ''
  from (select position, at, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
    from events order by position desc limit 1) as newest`
