import { withCluster } from '../harness/cluster.ts'
import { databaseCpuMicros } from '../harness/database.ts'
import { sendLoad } from '../harness/load.ts'
import { RUN, RUN_BODY } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import type { ServerProcess } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const SERVERS = 3
const CONNECTIONS = 64
/** With fewer slots, runs of the one server would wait, and the other servers would execute them. */
const SLOTS = { PERDURE_RUNS_CONCURRENCY: String(SERVERS * CONNECTIONS) }

const cpuOf = (servers: readonly ServerProcess[]) => servers.reduce((sum, server) => sum + server.cpuMicros(), 0)

export const clusterRuns: BenchCase = {
  id: 'P4',
  title: 'keyed runs on three servers that share a database, against one server with as many connections',
  run: (effort: Effort) =>
    withCluster({ env: SLOTS }, async ({ start, headers, database }) => {
      const [one, ...others] = await Promise.all(Array.from({ length: SERVERS }, start))
      if (one === undefined) return []
      const three = [one, ...others]
      const cpu = { floor: { servers: 0, database: 0, runs: 0 }, subject: { servers: 0, database: 0, runs: 0 } }
      const shared = { path: RUN, body: RUN_BODY, headers, keyed: true, randomKeys: true, warmUpMs: 0 }
      const load = async (servers: readonly ServerProcess[], count?: keyof typeof cpu) => {
        const before = { servers: cpuOf(three), database: databaseCpuMicros(database) }
        const connections = (SERVERS * CONNECTIONS) / servers.length
        const results = await Promise.all(
          servers.map(({ port }) => sendLoad({ ...shared, port, connections, durationMs: effort.durationMs })),
        )
        if (count !== undefined) {
          cpu[count].servers += cpuOf(three) - before.servers
          cpu[count].database += databaseCpuMicros(database) - before.database
          cpu[count].runs += results.reduce((sum, { nextKey }) => sum + nextKey, 0)
        }
        return results.reduce((sum, { perSecond }) => sum + perSecond, 0)
      }
      const warmUpRuns = effort.isQuick ? 2_000 : 8_000
      for (const server of three) {
        for (let sent = 0; sent < warmUpRuns; ) {
          sent += (await load([server])) * (effort.durationMs / 1_000)
        }
      }
      const figures = await alternate(effort.rounds, {
        floor: () => load([one], 'floor'),
        subject: () => load(three, 'subject'),
      })
      const micros = ({ servers, database: own, runs }: (typeof cpu)['floor']) =>
        `${Math.round(servers / runs)} and ${Math.round(own / runs)}`
      const note = `µs per run of the servers and of PostgreSQL: one ${micros(cpu.floor)}, three ${micros(cpu.subject)}`
      const variant = 'keyed run on PostgreSQL, three servers with 64 connections each, against one with 192'
      return [{ case: 'P4', variant, unit: 'runs/s', ...figures, goal: { atLeast: 0.8 }, note }]
    }),
}
