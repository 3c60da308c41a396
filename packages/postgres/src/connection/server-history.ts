import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Execute } from './connection.ts'

/** The newest state of the database server that this process, or an earlier one on this machine, has seen. */
interface Seen {
  /** Identifies the database server and its copies, such as standbys. */
  readonly system: string
  /** Identifies the table `meta`: a restored dump is another history. */
  readonly table: string
  /** Increases when a standby is promoted, and after a recovery to a moment in the past. */
  readonly timeline: number
  /** The position of the newest event that was acknowledged. */
  readonly position: number
}

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

/** Refuses servers that are behind one that was seen before, such as a primary that was replaced by a standby. */
export interface ServerHistory {
  /**
   * Checks that the timeline of the server is not older than one that was seen, and remembers it.
   *
   * @throws Error `ENOTPRIMARY`
   */
  requireTimeline(execute: Execute): Promise<void>
  /** Checks that the server has every acknowledged event of its timeline. @throws Error `ENOTPRIMARY` */
  requirePosition(execute: Execute): Promise<void>
  /** Closes the connection when a newer timeline is seen: its server may have been replaced. */
  closeWhenOlder(connection: Closable): void
  acknowledged(position: number): void
  /** How many connections were refused. */
  refused(): number
  /** Why the last connection was refused; `undefined` after one was accepted. */
  problem(): string | undefined
  /** Stores what was seen. */
  save(): Promise<void>
}

export async function openServerHistory({
  path,
  comparesPositions = true,
  onWarning,
}: HistoryOptions): Promise<ServerHistory> {
  let seen = path === undefined ? undefined : await readSeen(path)
  let saved = seen
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
      await mkdir(dirname(path), { recursive: true })
      await writeFile(`${path}.new`, JSON.stringify(current), { mode: 0o600 })
      await rename(`${path}.new`, path)
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

  return {
    async requireTimeline(execute) {
      const found = await readServer(execute)
      const isOther = seen?.system !== found.system || seen.table !== found.table
      if (seen !== undefined && !isOther && found.timeline < seen.timeline) {
        refuse(
          `the PostgreSQL server is an older primary: it is on timeline ${found.timeline}, and a server on timeline ${seen.timeline} has replaced it`,
        )
      }
      if (seen !== undefined && !isOther && found.timeline === seen.timeline) return
      const isNewer = seen !== undefined
      seen = found
      if (isNewer) for (const connection of open.splice(0)) connection.close()
      await save()
    },
    async requirePosition(execute) {
      const { timeline, position } = await readServer(execute)
      if (comparesPositions && seen !== undefined && timeline === seen.timeline && position < seen.position) {
        refuse(
          `the PostgreSQL server lacks acknowledged events: it ends at position ${position}, and position ${seen.position} was acknowledged`,
        )
      }
      problem = undefined
    },
    closeWhenOlder(connection) {
      open = [...open.filter((one) => !one.isLost()), connection]
    },
    acknowledged(position) {
      if (seen !== undefined && position > seen.position) seen = { ...seen, position }
    },
    refused: () => refused,
    problem: () => problem,
    save,
  }
}

/** A file that cannot be read is treated like a missing one. */
async function readSeen(path: string): Promise<Seen | undefined> {
  try {
    const { system, table, timeline, position } = JSON.parse(await readFile(path, 'utf8')) as Partial<Seen>
    const isWhole =
      typeof system === 'string' &&
      typeof table === 'string' &&
      Number.isInteger(timeline) &&
      Number.isInteger(position)
    return isWhole ? ({ system, table, timeline, position } as Seen) : undefined
  } catch {
    return undefined
  }
}

async function readServer(execute: Execute): Promise<Seen> {
  const { rows } = await execute({ text: SERVER, values: [] })
  const { system, table, timeline, position } = rows[0] as Record<keyof Seen, string>
  return { system, table, timeline: Number.parseInt(timeline, 16), position: Number(position) }
}

/** The first eight digits in the name of a file of the write-ahead log are the timeline. */
const SERVER = `select (select system_identifier::text from pg_control_system()) as "system",
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as "timeline",
  'meta'::regclass::oid::text as "table",
  coalesce((select position from events order by position desc limit 1), 0)::text as "position"`
