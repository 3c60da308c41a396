import type { StoredEvent } from '@perdure/ports'
import type { Execute } from './connection.ts'
import { readSeen, type Seen, withNewest, writeSeen } from './history-file.ts'
import { LINEAGES, parseLineages } from './lineage.ts'

export interface HistoryOptions {
  /** File that keeps what was seen across a restart; if missing, only this process remembers it. */
  readonly path?: string | undefined
  /** Whether a server that lacks acknowledged events is refused; by default it is. */
  readonly comparesPositions?: boolean
  readonly onWarning?: ((message: string) => void) | undefined
}

interface Closable {
  isLost(): boolean
  close(): unknown
}

/** Refuses servers that lack what was acknowledged, such as a primary that was replaced by a standby. */
export interface ServerHistory {
  /**
   * Checks that the server is the newest primary that was seen, or continues it, and remembers it. Before anything is
   * written to the server.
   *
   * @throws Error `ENOTPRIMARY`
   */
  requireSuccessor(execute: Execute): Promise<void>
  /**
   * Checks in addition that the server has every event that was acknowledged before the call. Closes the connection when a
   * newer primary is seen: its server may have been replaced.
   *
   * @throws Error `ENOTPRIMARY`
   */
  accept(execute: Execute, connection: Closable): Promise<void>
  acknowledged(event: AcknowledgedEvent): void
  /** How many connections were refused. */
  refused(): number
  /** Why the last connection was refused; `undefined` after one was accepted. */
  problem(): string | undefined
  /** Stores what was seen. */
  save(): Promise<void>
}

export type AcknowledgedEvent = Pick<StoredEvent, 'position' | 'at' | 'runId'>

/** A server as a new connection finds it. */
interface Found extends Omit<Seen, 'lineage' | 'event'> {
  /** The event at the position that was acknowledged; missing if it was deleted. */
  readonly eventThere: string | undefined
  /** Ids of the lineages, oldest first. */
  readonly lineages: readonly string[]
}

export async function openServerHistory({
  path,
  comparesPositions = true,
  onWarning,
}: HistoryOptions): Promise<ServerHistory> {
  let seen = path === undefined ? undefined : await readSeen(path)
  let saved = seen
  /** The lineages of the server that was seen. */
  let lineages: readonly string[] = []
  let refused = 0
  let problem: string | undefined
  let hasWarned = false
  let saving = Promise.resolve()
  let open: Closable[] = []

  const refuse = (reason: string): never => {
    refused++
    if (problem === undefined) onWarning?.(`${reason}; it is refused until the URL leads to the current primary`)
    problem = reason
    throw Object.assign(new Error(reason), { code: 'ENOTPRIMARY' })
  }

  const write = async () => {
    if (path === undefined || seen === undefined || seen === saved) return
    const current = seen
    try {
      await writeSeen(path, current, lineages)
      saved = current
    } catch (error) {
      if (!hasWarned) onWarning?.(`cannot write ${path}, so a restart forgets the newest primary: ${String(error)}`)
      hasWarned = true
    }
  }

  const save = () => {
    saving = saving.then(write)
    return saving
  }

  /** Reads the server, and what had been seen when the read began: later commits may not be part of it. */
  const read = async (execute: Execute): Promise<{ readonly found: Found; readonly before: Seen | undefined }> => {
    for (;;) {
      const before = seen
      const found = await readServer(execute, before?.position ?? 0)
      // A newer primary that was seen meanwhile may be this server, which then has a new lineage.
      if (isSamePrimary(before, seen)) return { found, before }
    }
  }

  const requireSame = async (execute: Execute) => {
    const { found, before } = await read(execute)
    if (before === undefined || before.system !== found.system || before.table !== found.table) return { found }
    if (found.timeline < before.timeline) {
      refuse(
        `the PostgreSQL server is an older primary: it is on timeline ${found.timeline}, and a server on timeline ${before.timeline} has replaced it`,
      )
    }
    const { lineage } = before
    if (comparesPositions && lineage !== undefined && !found.lineages.includes(lineage)) {
      refuse(
        `the PostgreSQL server lacks acknowledged events: it does not continue the primary that acknowledged position ${before.position}`,
      )
    }
    return { found, before }
  }

  /** Remembers the server, if it is not the one that was seen. */
  const follow = async (found: Found, before: Seen | undefined) => {
    lineages = found.lineages
    const newest = toSeen(found)
    if (isSamePrimary(before, newest)) return
    seen = isComparable(seen, newest) ? withNewest(newest, seen) : newest
    for (const connection of open.splice(0)) connection.close()
    await save()
  }

  return {
    async requireSuccessor(execute) {
      const { found, before } = await requireSame(execute)
      await follow(found, before)
    },
    async accept(execute, connection) {
      const { found, before } = await requireSame(execute)
      const lacks = comparesPositions && isComparable(before, toSeen(found)) ? lackOf(found, before) : undefined
      if (lacks !== undefined) refuse(`the PostgreSQL server lacks acknowledged events: ${lacks}`)
      problem = undefined
      open = open.filter((one) => !one.isLost() && one !== connection)
      const following = follow(found, before)
      open.push(connection)
      await following
    },
    acknowledged(event) {
      const { position } = event
      if (seen !== undefined && position > seen.position) seen = { ...seen, position, event: identityOf(event) }
    },
    refused: () => refused,
    problem: () => problem,
    save,
  }
}

function lackOf({ position, eventThere }: Found, before: Seen): string | undefined {
  if (position < before.position) {
    return `it ends at position ${position}, and position ${before.position} was acknowledged`
  }
  if (before.event === undefined || eventThere === undefined || eventThere === before.event) return undefined
  return `its event at position ${before.position} is not the one that was acknowledged`
}

const identityOf = ({ at, runId }: AcknowledgedEvent): string => `${at} ${runId ?? ''}`

const toSeen = ({ system, table, timeline, position, lineages }: Found): Seen => ({
  ...{ system, table, timeline, position },
  lineage: lineages.at(-1),
})

const isSamePrimary = (one: Seen | undefined, other: Seen | undefined): boolean =>
  one?.system === other?.system &&
  one?.table === other?.table &&
  one?.timeline === other?.timeline &&
  one?.lineage === other?.lineage

/** Whether the positions of both count the same events. A file of an earlier release names no lineage. */
const isComparable = (before: Seen | undefined, found: Seen): before is Seen =>
  before !== undefined && isSamePrimary({ ...before, lineage: before.lineage ?? found.lineage }, found)

async function readServer(execute: Execute, acknowledged: number): Promise<Found> {
  const { rows } = await execute({ text: SERVER, values: [acknowledged] })
  const row = rows[0] as Record<keyof Found, string> & { readonly eventThere?: string | null }
  const { system, table, timeline, position, lineages, eventThere } = row
  return {
    eventThere: eventThere ?? undefined,
    ...{ system, table, timeline: Number.parseInt(timeline, 16), position: Number(position) },
    lineages: parseLineages(lineages).map(({ id }) => id),
  }
}

/** The first eight digits in the name of a file of the write-ahead log are the timeline. */
const SERVER = `select (select system_identifier::text from pg_control_system()) as "system",
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as "timeline",
  'meta'::regclass::oid::text as "table",
  (select value from meta where name = '${LINEAGES}') as "lineages",
  coalesce((select position from events order by position desc limit 1), 0)::text as "position",
  (select at || ' ' || coalesce(run_id, '') from events where position = $1::bigint and type <> '') as "eventThere"`
