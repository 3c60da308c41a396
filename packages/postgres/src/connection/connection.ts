import { createVariants, type Db, pending, type Query } from '@perdure/storage'
import { POSTGRES } from '../query/dialect.ts'
import { readTextPart } from '../query/text-part.ts'
import type { CopyStatement } from './copy-out.ts'
import { createStatementNames } from './statement-names.ts'
import { encodeValue } from './text-codec.ts'

export interface StatementResult {
  readonly rows: readonly object[]
  /** The command that was executed, such as `COMMIT` or `ROLLBACK`. */
  readonly command: string
  readonly rowCount: number
}

export interface Statement {
  readonly name?: string | undefined
  readonly text: string
  readonly values: unknown[]
}

/** Sends a statement to the server; rejects with the error of the driver. */
export type Execute = (statement: Statement) => Promise<StatementResult>

/** Reads bytes, on any connection of a pool. */
export type Copy = (statement: CopyStatement) => Promise<Uint8Array | undefined>

/** Runs queries on one connection, or on any connection of a pool. */
export interface Connection {
  /** The connection as programs use it. */
  readonly db: Db
  run<Values>(query: Query<Values, unknown>, values: Values): Promise<{ readonly changes: number }>
  get<Values, Row>(query: Query<Values, Row>, values: Values): Promise<Row | undefined>
  all<Values, Row>(query: Query<Values, Row>, values: Values): Promise<readonly Row[]>
  readonly copy: Copy
}

/** Queries whose conditions vary, and the names of prepared statements; shared by the connections of a storage. */
export interface QueryCache {
  readonly variant: Db['variant']
  nameOf(text: string): string | undefined
}

export function createQueryCache(): QueryCache {
  return { nameOf: createStatementNames(), variant: createVariants() }
}

export function createConnection(execute: Execute, cache: QueryCache, copy: Copy = notForReads): Connection {
  const send = <Values>(query: Query<Values, unknown>, values: Values): Promise<StatementResult> => {
    const { text, bind } = query.in(POSTGRES)
    return execute({ name: cache.nameOf(text), text, values: bind(values).map(encodeValue) })
  }

  const connection: Omit<Connection, 'db'> = {
    run: async (query, values) => ({ changes: (await send(query, values)).rowCount }),
    get: async <Values, Row>(query: Query<Values, Row>, values: Values) =>
      (await send(query, values)).rows[0] as Row | undefined,
    all: async <Values, Row>(query: Query<Values, Row>, values: Values) =>
      (await send(query, values)).rows as readonly Row[],
    copy,
  }
  return { ...connection, db: toDb(connection, cache) }
}

const toDb = ({ run, get, all, copy }: Omit<Connection, 'db'>, { variant }: QueryCache): Db => ({
  dialect: POSTGRES,
  run: (query, values) => pending(run(query, values).then(({ changes }) => changes)),
  get: (query, values) => pending(get(query, values)),
  all: (query, values) => pending(all(query, values)),
  each: (query, values) => pending(all(query, values)),
  textPart: (part) => pending(readTextPart({ copy }, part)),
  variant,
})

const notForReads: Copy = () => Promise.reject(new Error('a connection that writes cannot copy'))
