import { withCluster } from '../harness/cluster.ts'
import { sendLoad } from '../harness/load.ts'
import { RUN, RUN_BODY } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import type { ServerProcess } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const SERVERS = 3
const CONNECTIONS = 64

const cpuOf = (servers: readonly ServerProcess[]) => servers.reduce((sum, server) => sum + server.cpuMicros(), 0)

export const clusterRuns: BenchCase = {
  id: 'P4',
  title: 'keyed runs on three servers that share a database, against one server with as many connections',
  run: (effort: Effort) =>
    withCluster({}, async ({ start, headers }) => {
      const [one, ...others] = await Promise.all(Array.from({ length: SERVERS }, start))
      if (one === undefined) return []
      const three = [one, ...others]
      const cpu = { floor: { micros: 0, runs: 0 }, subject: { micros: 0, runs: 0 } }
      const shared = { path: RUN, body: RUN_BODY, headers, keyed: true, randomKeys: true, warmUpMs: 0 }
      const load = async (servers: readonly ServerProcess[], count?: keyof typeof cpu) => {
        const before = cpuOf(three)
        const connections = (SERVERS * CONNECTIONS) / servers.length
        const results = await Promise.all(
          servers.map(({ port }) => sendLoad({ ...shared, port, connections, durationMs: effort.durationMs })),
        )
        if (count !== undefined) {
          cpu[count].micros += cpuOf(three) - before
          cpu[count].runs += results.reduce((sum, { nextKey }) => sum + nextKey, 0)
        }
        return results.reduce((sum, { perSecond }) => sum + perSecond, 0)
      }
      const warmUpRuns = effort.isQuick ? 3_000 : 20_000
      for (const server of three) {
        for (let sent = 0; sent < warmUpRuns; ) {
          sent += (await load([server])) * (effort.durationMs / 1_000)
        }
      }
      const figures = await alternate(effort.rounds, {
        floor: () => load([one], 'floor'),
        subject: () => load(three, 'subject'),
      })
      const microsOf = ({ micros, runs }: (typeof cpu)['floor']) => Math.round(micros / runs)
      const note = `processor time of all servers per run: ${microsOf(cpu.floor)} and ${microsOf(cpu.subject)} µs`
      const variant = 'keyed run on PostgreSQL, three servers with 64 connections each, against one with 192'
      return [{ case: 'P4', variant, unit: 'runs/s', ...figures, goal: { atLeast: 0.8 }, note }]
    }),
}
