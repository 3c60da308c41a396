import { openSession, type Session } from '../../packages/postgres/src/connection/session.ts'

/** A direct way to the database, past the faulty networks of the nodes. Every call opens sessions of its own. */
export interface Database {
  /** Ends each session of the nodes with this probability. */
  terminate(probability: number): Promise<void>
  /** Whether others have given up this process of a cluster, and have recovered everything that it left. */
  hasForgotten(pid: number): Promise<boolean>
  /** Occupies connections for some time; those that the server refuses are left out. Resolves when they are closed. */
  occupy(connections: number, ms: number): Promise<void>
}

export function createDatabase(url: string, schema: string): Database {
  const server = { url, schema, statementTimeoutMs: 60_000, pipeline: false }
  const open = (name: string) => openSession(server, { name, planning: 'default' })
  const inSession = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const session = await open('strike')
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  return {
    terminate: (probability) =>
      inSession(async (session) => void (await session.execute({ text: TERMINATE, values: [String(probability)] }))),
    hasForgotten: (pid) =>
      inSession(
        async (session) => (await session.execute({ text: FORGOTTEN, values: [`% ${pid}`] })).rows.length === 0,
      ),
    async occupy(connections, ms) {
      const opening = await Promise.allSettled(Array.from({ length: connections }, () => open('sleeper')))
      const sessions = opening.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const sleep = { text: 'select pg_sleep($1)', values: [String(ms / 1_000)] }
      await Promise.allSettled(sessions.map((session) => session.execute(sleep)))
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < $1::float`

const FORGOTTEN = `select id from nodes where name like $1 union all select id from departed_nodes`
