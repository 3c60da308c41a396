import { beginFold, foldLog, type LogEvent, transcriptOf } from '@perdure/interop'
import type { BenchCase } from './bench-case.ts'

const EVENTS = 10_000

/** What an agent writes that streams an answer, calls a tool, and streams again. */
const log: readonly LogEvent[] = Array.from({ length: EVENTS }, (_, n) => ({
  eventId: `e.${n + 1}`,
  at: '2026-01-01T00:00:00.000Z',
  ...eventAt(n),
}))

function eventAt(n: number): Pick<LogEvent, 'type' | 'payload'> {
  const turn = Math.floor(n / 100)
  const tool = { toolCallId: `call-${turn}`, toolName: 'search' }
  if (n % 100 === 0) return { type: 'step.start', payload: { seq: turn, step: 'ask', kind: 'step' } }
  if (n % 100 === 97) return { type: 'step.end', payload: { seq: turn, step: 'ask', kind: 'step' } }
  if (n % 100 === 98) return { type: 'tool.execute.start', payload: { ...tool, args: { q: 'x' } } }
  if (n % 100 === 99) return { type: 'tool.execute.end', payload: { ...tool, result: 'found', durationMs: 3 } }
  return { type: 'text.delta', payload: { delta: 'word ', messageId: `m-${turn}` } }
}

function timed(work: () => unknown): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

/** The fold that every reader of a protocol projection waits for before its first frame. */
export const foldCost: BenchCase = {
  id: 'F17',
  title: `fold of ${EVENTS} events`,
  async run({ rounds }) {
    const fold = () => transcriptOf(foldLog(log, beginFold('run_1')))
    for (let warmUp = 0; warmUp < 3; warmUp++) fold()
    const text = JSON.stringify(log)
    const each = Array.from({ length: rounds }, () => ({ floor: timed(() => JSON.parse(text)), subject: timed(fold) }))
    const subject = each.map((one) => one.subject)
    return [
      { case: 'F17', variant: 'time', unit: 'ms', floor: [1], subject, goal: { atMost: 30 } },
      { case: 'F17', variant: 'compared with JSON.parse', unit: 'ms', floor: each.map((one) => one.floor), subject },
    ]
  },
}
