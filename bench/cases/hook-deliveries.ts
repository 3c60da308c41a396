import { setTimeout as pause } from 'node:timers/promises'
import { type Cores, coresOf } from '../harness/cores.ts'
import { sendDeliveries } from '../harness/hook-deliveries.ts'
import { auditEnv, startShipped } from '../harness/perdure.ts'
import type { Comparison } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const PER_SECOND = 200
const BODY_BYTES = 2_000
const WARM_UP_MS = 10_000
const DURATION_MS = 60_000
const GOAL_MS = 50
const SECRET = 'bench secret of a hook'

const envOf = (folder: string, isAudited: boolean) => ({
  BENCH_HOOK_SECRET: SECRET,
  ...(isAudited ? auditEnv(folder) : {}),
})

interface Counted {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

/** How many runs of the agent have completed, as the server counts them. */
async function completedRuns({ port, headers }: Counted): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/v1/metrics`, { headers })).text()
  return Number(/^svc_agent_runs_total\{agent="echo",status="completed"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

/** Waits until each delivery has its completed run. @returns how many have none after a minute */
async function lostOf(server: Counted, sent: number): Promise<number> {
  for (const until = performance.now() + 60_000; performance.now() < until; await pause(500)) {
    if ((await completedRuns(server)) >= sent) return 0
  }
  return sent - (await completedRuns(server))
}

/** Each delivery starts a run, on a server with its default configuration. */
const deliveries = (cores: Cores, isAudited: boolean, { isQuick }: Effort): Promise<readonly Comparison[]> =>
  inFolder(async (folder) => {
    const { server, headers } = await startShipped({ folder, env: envOf(folder, isAudited), cpus: cores.server })
    try {
      const before = server.cpuMicros()
      const { port } = server
      const durationMs = isQuick ? DURATION_MS / 6 : DURATION_MS
      const load = { port, path: '/v1/hooks/bench', secret: SECRET, perSecond: PER_SECOND, bodyBytes: BODY_BYTES }
      const result = await sendDeliveries({ ...load, durationMs, warmUpMs: WARM_UP_MS }, cores.load)
      const { sent, statuses, p50Ms, p99Ms, p999Ms, maxMs, latestMs } = result
      const lost = await lostOf({ port, headers }, sent)
      const micros = Math.round((server.cpuMicros() - before) / sent)
      const variant = `${PER_SECOND} deliveries/s, ${isAudited ? 'with' : 'without'} the audit log`
      const times = `p50 ${p50Ms.toFixed(1)}, p99.9 ${p999Ms.toFixed(1)}, most ${maxMs.toFixed(1)} ms`
      const note = `${times}; sender late by at most ${latestMs.toFixed(1)} ms; ${micros} µs CPU a delivery`
      const unanswered = sent - (statuses['200'] ?? 0)
      const counts = { ...{ case: 'F23', floor: [], unit: 'deliveries' }, goal: { below: 1 } }
      return [
        {
          ...{ case: 'F23', variant: `${variant}, p99`, unit: 'ms' },
          floor: [],
          subject: [p99Ms],
          goal: { below: GOAL_MS },
          note,
        },
        { ...counts, variant: `${variant}, answered otherwise than 200`, subject: [unanswered] },
        { ...counts, variant: `${variant}, without a completed run`, subject: [lost] },
      ]
    } finally {
      await server.stop()
    }
  })

export const hookDeliveries: BenchCase = {
  id: 'F23',
  title: 'signed deliveries on a fixed schedule, each of which starts a run; server and sender share two cores',
  async run(effort) {
    const cores = coresOf(2)
    return [...(await deliveries(cores, true, effort)), ...(await deliveries(cores, false, effort))]
  },
}
