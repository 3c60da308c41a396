import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import type { Comparison } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const DELAY_US = 20_000
const CALLS = 'fsync,fdatasync'
const TRACED = ['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${CALLS}`]
const SLOW = [...TRACED, '-e', `inject=${CALLS}:delay_exit=${DELAY_US}`, process.execPath]

const loopDelayP99 = async (port: number): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/v1/metrics`)).text()
  const match =
    /^svc_event_loop_delay_seconds\{[^}]*0\.99[^}]*\} (\S+)/m.exec(text) ??
    /^svc_event_loop_delay_seconds (\S+)/m.exec(text)
  return Number(match?.[1] ?? Number.NaN) * 1_000
}

/** Delays every flush by 20 ms, as a slow disk would. Clients that only read must not notice. Needs strace. */
export const flushDelay: BenchCase = {
  id: 'F9',
  title: 'event loop and /health on a disk whose flushes take 20 ms',
  run: ({ durationMs, warmUpMs }) =>
    inFolder(async (folder) => {
      const perdure = await startPerdure({ folder, command: SLOW })
      try {
        const shared = { port: perdure.port, durationMs: durationMs * 2, warmUpMs }
        const runs = sendLoad({
          ...shared,
          path: RUN,
          body: RUN_BODY,
          headers: JSON_HEADERS,
          connections: 16,
          keyed: true,
        })
        const health = await sendLoad({ ...shared, method: 'GET', path: '/v1/health', connections: 1 })
        const loopMs = await loopDelayP99(perdure.port)
        const { perSecond } = await runs
        const note = `${Math.round(perSecond)} keyed runs/s meanwhile`
        const rows: Comparison[] = [
          {
            case: 'F9',
            variant: 'event-loop delay p99',
            unit: 'ms',
            floor: [1],
            subject: [loopMs],
            goal: { atMost: 25 },
            note,
          },
          { case: 'F9', variant: '/health p99', unit: 'ms', floor: [1], subject: [health.p99Ms], goal: { atMost: 50 } },
        ]
        return rows
      } finally {
        await perdure.stop()
      }
    }),
}
