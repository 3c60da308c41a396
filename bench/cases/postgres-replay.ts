import pg from 'pg'
import { onDatabase, withDatabase } from '../harness/database.ts'
import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder, startFloor } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

/** More than a server keeps in memory: requested in turn, each response comes from the database. */
const KEYS = 8_000

const FILL_FLOOR = `insert into floor.keys (id, fingerprint, run_id, status, body, expires_at)
  select 'k-' || number, $1, id, 200, '{"runId":"' || id || '","status":"completed","result":{"text":"hello"}}', 9e15
  from (select number, gen_random_uuid()::text as id from generate_series(0, ${KEYS - 1}) as number) as new`

export const postgresReplay: BenchCase = {
  id: 'P5',
  title: 'responses of keys that the server does not have in memory, on PostgreSQL, against reads of such rows',
  run: (effort) =>
    inFolder((folder) =>
      withDatabase(async (database) => {
        const floor = await startFloor('hono-postgres', { FLOOR_DATABASE_URL: database.url })
        const client = new pg.Client(database.url)
        await client.connect()
        await client.query(FILL_FLOOR, [RUN_BODY])
        await client.end()
        const perdure = await startPerdure({ folder, env: onDatabase(database) })
        const { durationMs } = effort
        const shared = { headers: JSON_HEADERS, body: RUN_BODY, connections: 64, durationMs, warmUpMs: 0 }
        let next = 0
        const replay = async (target: { readonly port: number; readonly path: string; readonly method?: 'GET' }) => {
          const keys = { keyed: true, repeatKey: true, keys: KEYS, firstKey: next }
          const { perSecond, nextKey } = await sendLoad({ ...shared, ...keys, ...target })
          next = nextKey
          return perSecond
        }
        const onFloor = () => replay({ port: floor.port, path: '/', method: 'GET' })
        const onPerdure = () => replay({ port: perdure.port, path: RUN })
        try {
          // The first requests of Perdure start the runs whose responses are then replayed.
          while (next < 3 * KEYS) await onPerdure()
          await onFloor()
          const figures = await alternate(effort.rounds, { floor: onFloor, subject: onPerdure })
          const variant = 'replay of keys that are not in memory, 64 connections'
          return [{ case: 'P5', variant, unit: 'answers/s', ...figures, goal: { atLeast: 0.5 } }]
        } finally {
          await Promise.all([floor.stop(), perdure.stop()])
        }
      }),
    ),
}
