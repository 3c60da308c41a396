import { onDatabase, withDatabase } from '../harness/database.ts'
import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const MOST = 64

/** Sends keyed runs, each with a new random key. */
function keyedRuns({ port }: ServerProcess, path: string, { durationMs }: Effort) {
  const target = { port, path, body: RUN_BODY, headers: JSON_HEADERS, keyed: true, randomKeys: true, warmUpMs: 0 }
  const load = (connections: number) => sendLoad({ ...target, connections, durationMs })
  return {
    perSecond: async (connections: number) => (await load(connections)).perSecond,
    /** Sends runs over 64 connections until the server has had this many: each server must be equally warm. */
    async warmUp(runs: number) {
      for (let sent = 0; sent < runs; ) sent += (await load(MOST)).nextKey
    },
  }
}

const warmUpRuns = ({ isQuick }: Effort) => (isQuick ? 3_000 : 20_000)

const connectionsText = (connections: number) => `${connections} ${connections === 1 ? 'connection' : 'connections'}`

interface Compared {
  readonly name: string
  readonly title: string
  readonly connections: readonly number[]
  readonly goal: (connections: number) => number
  /** How many runs warm up the floor, if a slow floor needs fewer. */
  readonly floorRuns?: number
  startFloor(folder: string, url: string): Promise<{ readonly server: ServerProcess; readonly path: string }>
}

/** Keyed runs of Perdure on PostgreSQL, against another server that uses the same database server or a file. */
const comparedWith = (effort: Effort, compared: Compared): Promise<readonly Comparison[]> =>
  inFolder((folder) =>
    withDatabase(async (database) => {
      const floor = await compared.startFloor(folder, database.url)
      const perdure = await startPerdure({ folder, env: onDatabase(database) })
      const onFloor = keyedRuns(floor.server, floor.path, effort)
      const onPerdure = keyedRuns(perdure, RUN, effort)
      const rows: Comparison[] = []
      try {
        await onFloor.warmUp(compared.floorRuns ?? warmUpRuns(effort))
        await onPerdure.warmUp(warmUpRuns(effort))
        for (const connections of compared.connections) {
          const figures = await alternate(effort.rounds, {
            floor: () => onFloor.perSecond(connections),
            subject: () => onPerdure.perSecond(connections),
          })
          rows.push({
            case: compared.name,
            variant: `${compared.title}, ${connectionsText(connections)}`,
            unit: 'runs/s',
            ...figures,
            goal: { atLeast: compared.goal(connections) },
          })
        }
      } finally {
        await Promise.all([floor.server.stop(), perdure.stop()])
      }
      return rows
    }),
  )

export const postgresRuns: BenchCase = {
  id: 'P1',
  title: 'keyed runs on PostgreSQL, against direct writes of the same rows in group commits',
  run: (effort) =>
    comparedWith(effort, {
      name: 'P1',
      title: 'keyed run on PostgreSQL',
      connections: [1, 16, MOST],
      goal: () => 0.55,
      startFloor: async (_, url) => ({
        server: await startFloor('hono-postgres', { FLOOR_DATABASE_URL: url }),
        path: '/',
      }),
    }),
}

export const postgresAgainstSqlite: BenchCase = {
  id: 'P2',
  title: 'keyed runs on PostgreSQL, against Perdure on SQLite',
  run: (effort) =>
    comparedWith(effort, {
      name: 'P2',
      title: 'keyed run on PostgreSQL, against SQLite',
      connections: [1, MOST],
      goal: (connections) => (connections === MOST ? 0.35 : 0),
      startFloor: async (folder) => ({ server: await startPerdure({ folder }), path: RUN }),
    }),
}

/** DBOS is no dependency of the bench: BENCH_DBOS is a folder in which it is installed. */
export const postgresAgainstDbos: BenchCase = {
  id: 'P3',
  title: 'keyed runs on PostgreSQL, against DBOS Transact on the same server',
  async run(effort) {
    const folder = process.env.BENCH_DBOS
    if (folder === undefined) {
      console.error('P3 is skipped: set BENCH_DBOS to a folder in which @dbos-inc/dbos-sdk is installed')
      return []
    }
    return comparedWith(effort, {
      name: 'P3',
      title: 'keyed run on PostgreSQL, against DBOS',
      connections: [1, MOST],
      goal: (connections) => (connections === MOST ? 10 : 1.8),
      floorRuns: 2_000,
      startFloor: async (_, url) => ({
        server: await startFloor('dbos', { FLOOR_DATABASE_URL: url, FLOOR_DBOS: folder }),
        path: '/',
      }),
    })
  },
}
