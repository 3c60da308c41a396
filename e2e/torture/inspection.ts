import { openSession, type Session } from '../../packages/postgres/src/connection/session.ts'
import type { Sandbox } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'

/** Looks at the stored data, whatever stores it, without changing what the next server finds. */
export interface Inspection {
  /** Damage in the stored structures. */
  problems(): Promise<readonly string[]>
  /** The idempotency keys whose request has no answer yet. */
  executingKeys(): Promise<readonly string[]>
}

export const inspectionOf = ({ env }: Sandbox): Inspection =>
  env.PERDURE_STORAGE_KIND === 'postgres' ? ofSchema(env) : ofFile(env.PERDURE_STORAGE_PATH ?? '')

const ofFile = (path: string): Inspection => ({
  problems: async () => inspectCopy(path),
  executingKeys: async () =>
    withCopy(path, (database) => database.prepare(EXECUTING_KEYS).all()).map((row) => JSON.stringify(row)),
})

function ofSchema(env: NodeJS.ProcessEnv): Inspection {
  const schema = env.PERDURE_STORAGE_SCHEMA ?? ''
  const rowsOf = async (session: Session, text: string) =>
    (await session.execute({ text, values: [] })).rows.map((row) => JSON.stringify(row))
  const inSession = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const server = { url: env.E2E_DATABASE_URL ?? '', schema, statementTimeoutMs: 60_000, pipeline: false }
    const session = await openSession(server, { name: 'inspection', planning: 'default' })
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  return {
    problems: () =>
      inSession(async (session) => {
        await rowsOf(session, 'create extension if not exists amcheck schema public')
        try {
          await rowsOf(session, CHECK_INDEXES)
        } catch (error) {
          return [String(error)]
        }
        return rowsOf(session, CHECK_TABLES)
      }),
    executingKeys: () => inSession((session) => rowsOf(session, EXECUTING_KEYS)),
  }
}

const EXECUTING_KEYS = 'SELECT id, run_id FROM idempotency WHERE status IS NULL'

const IN_SCHEMA = 'relnamespace = current_schema()::regnamespace'

/** Fails at the first damage: an index in the wrong order, or a row that is missing in it. */
const CHECK_INDEXES = `select count(public.bt_index_check(oid, true)) from pg_class
  where ${IN_SCHEMA} and relkind = 'i' and relam = (select oid from pg_am where amname = 'btree')`

const CHECK_TABLES = `select relname, found.blkno, found.msg from pg_class, public.verify_heapam(pg_class.oid) as found
  where ${IN_SCHEMA} and relkind = 'r'`
