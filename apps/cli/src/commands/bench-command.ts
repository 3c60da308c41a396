import type { Call } from '../call.ts'
import { parseDuration } from '../flag-time.ts'
import { pairsText } from '../output/columns.ts'
import { readInput } from './read-input.ts'

export interface BenchFlags {
  readonly agent: string
  readonly connections: number
  readonly duration: string
  readonly input?: string
}

interface Tally {
  readonly latenciesMs: number[]
  readonly statuses: Record<string, number>
}

/** Runs the agent repeatedly on `connections` parallel loops, each run under its own idempotency key. */
export async function benchCommand(call: Call, flags: BenchFlags): Promise<void> {
  const { agent, connections } = flags
  const input = await readInput(call.terminal, 'input', flags.input)
  const { agents } = call.client()
  const tally: Tally = { latenciesMs: [], statuses: {} }
  const startedMs = performance.now()
  const untilMs = startedMs + parseDuration('duration', flags.duration)

  const runOnce = async () => {
    const sentMs = performance.now()
    const { status } = await agents.run(agent, input === undefined ? {} : { input })
    tally.latenciesMs.push(performance.now() - sentMs)
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  }
  const runUntilDeadline = async () => {
    do await runOnce()
    while (performance.now() < untilMs)
  }
  await Promise.all(Array.from({ length: connections }, runUntilDeadline))

  const report = reportOf(agent, tally, performance.now() - startedMs)
  call.out.document(report, (paint) => pairsText(Object.entries(report), paint))
}

function reportOf(agent: string, { latenciesMs, statuses }: Tally, durationMs: number) {
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  const quantile = (share: number) => rounded(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return {
    agent,
    runs: sorted.length,
    perSecond: rounded(sorted.length / (durationMs / 1_000)),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    durationMs: rounded(durationMs),
    statuses,
  }
}

const rounded = (value: number): number => Number(value.toFixed(1))
