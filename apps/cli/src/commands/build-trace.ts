import type { Event } from '@perdure/client'
import { isPlainObject, type Run } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

export interface TraceLine {
  readonly name: string
  /** Since the start of the run. */
  readonly startMs: number
  readonly durationMs: number
  readonly depth: number
  readonly status?: string
}

export interface Trace {
  readonly runId: string
  readonly status: string
  readonly durationMs: number
  readonly lines: readonly TraceLine[]
}

/** Event types that start and end a line of the trace; `id` is the payload field by which the two events match. */
const SPANS: readonly {
  readonly start: string
  readonly ends: readonly string[]
  readonly id: string
  readonly name: string
}[] = [
  { start: 'step.start', ends: ['step.end', 'step.error'], id: 'seq', name: 'step' },
  { start: 'tool.execute.start', ends: ['tool.execute.end', 'tool.execute.error'], id: 'toolCallId', name: 'toolName' },
  { start: 'approval.requested', ends: ['approval.resolved', 'approval.expired'], id: 'approvalId', name: 'name' },
  { start: 'run.suspended', ends: ['run.resumed'], id: 'runId', name: '' },
]

/**
 * Builds the timeline of a run from its events: a line for the run, and one per step, tool call, approval and
 * suspension.
 */
export function buildTrace(run: InferOutput<typeof Run>, events: readonly Event[], now: number): Trace {
  const start = Date.parse(run.startedAt ?? run.createdAt)
  const end = run.completedAt === undefined ? now : Date.parse(run.completedAt)
  const durationMs = Math.max(0, end - start)
  const inner = events.flatMap((event, at) => lineOf(event, events.slice(at + 1), { start, end }))
  const name = `${run.kind} ${run.agentId ?? run.workflowId ?? ''}`
  return {
    runId: run.id,
    status: run.status,
    durationMs,
    lines: [{ name, startMs: 0, durationMs, depth: 0, status: run.status }, ...inner, ...textLine(events, start)],
  }
}

function lineOf(event: Event, later: readonly Event[], run: { start: number; end: number }): readonly TraceLine[] {
  const span = SPANS.find(({ start }) => start === event.type)
  if (span === undefined) return []
  const id = memberOf(event, span.id)
  const closing = later.find(({ type, ...rest }) => span.ends.includes(type) && memberOf(rest, span.id) === id)
  const at = Date.parse(event.at)
  const until = closing === undefined ? run.end : Date.parse(closing.at)
  const status = closing === undefined ? 'pending' : /error|expired/.test(closing.type) ? 'failed' : 'completed'
  const name = span.name === '' ? 'suspended' : String(memberOf(event, span.name) ?? span.start)
  return [{ name, startMs: Math.max(0, at - run.start), durationMs: Math.max(0, until - at), depth: 1, status }]
}

/** One line for all text deltas of the run. */
function textLine(events: readonly Event[], start: number): readonly TraceLine[] {
  const deltas = events.filter(({ type }) => type === 'text.delta')
  const [first, last] = [deltas[0], deltas.at(-1)]
  if (first === undefined || last === undefined) return []
  const at = Date.parse(first.at)
  return [
    {
      name: `text.delta ×${deltas.length}`,
      startMs: Math.max(0, at - start),
      durationMs: Date.parse(last.at) - at,
      depth: 1,
    },
  ]
}

const memberOf = ({ payload }: Pick<Event, 'payload'>, name: string): unknown =>
  isPlainObject(payload) ? payload[name] : undefined
