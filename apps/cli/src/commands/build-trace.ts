import type { Event } from '@perdure/client'
import { isPlainObject, type Run } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

export interface TraceLine {
  readonly name: string
  /** `agent`, `workflow`, the kind of a durable call, `tool`, `approval`, `suspended` or `text`. */
  readonly kind: string
  /** Since the start of the run. */
  readonly startMs: number
  readonly durationMs: number
  readonly depth: number
  readonly status?: string
  /** `code: message`. */
  readonly error?: string
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
  readonly kind: string
  readonly name?: string
}[] = [
  { start: 'step.start', ends: ['step.end', 'step.error'], id: 'seq', kind: 'step', name: 'step' },
  {
    start: 'tool.execute.start',
    ends: ['tool.execute.end', 'tool.execute.error'],
    id: 'toolCallId',
    kind: 'tool',
    name: 'toolName',
  },
  {
    start: 'approval.requested',
    ends: ['approval.resolved', 'approval.expired'],
    id: 'approvalId',
    kind: 'approval',
    name: 'name',
  },
  { start: 'run.suspended', ends: ['run.resumed'], id: 'runId', kind: 'suspended' },
]

interface TracedRun {
  readonly id: string
  readonly start: number
  readonly end: number
  readonly isEnded: boolean
  readonly events: readonly Event[]
}

/**
 * Builds the timeline of a run from its events: a line for the run, and one per try of a step, tool call, approval and
 * suspension. A tool call of `ctx.tool` is a step too, and has one line.
 */
export function buildTrace(run: InferOutput<typeof Run>, events: readonly Event[], now: number): Trace {
  const start = Date.parse(run.startedAt ?? run.createdAt)
  const end = run.completedAt === undefined ? now : Date.parse(run.completedAt)
  const durationMs = Math.max(0, end - start)
  const traced = { id: run.id, start, end, isEnded: run.completedAt !== undefined, events }
  const error = errorText(run.error)
  const whole: TraceLine = {
    ...{ name: run.agentId ?? run.workflowId ?? '', kind: run.kind },
    ...{ startMs: 0, durationMs, depth: 0, status: run.status, ...error },
  }
  const inner = events.flatMap((event, at) => linesOf(traced, event, at))
  return { runId: run.id, status: run.status, durationMs, lines: [whole, ...inner, ...textLine(traced)] }
}

function linesOf(run: TracedRun, event: Event, at: number): readonly TraceLine[] {
  const span = SPANS.find(({ start }) => start === event.type)
  if (span === undefined || isPartOfStep(run, event)) return []
  const id = memberOf(event, span.id)
  const later = run.events.slice(at + 1)
  const own = later.filter((one) => span.ends.includes(one.type) && memberOf(one, span.id) === id)
  const last = own.findIndex((one) => memberOf(one, 'willRetry') !== true)
  const closings = last < 0 ? [...own, undefined] : own.slice(0, last + 1)
  const name = span.name === undefined ? 'suspended' : String(memberOf(event, span.name) ?? span.start)
  const tool = span.kind === 'step' ? toolOf(run, event) : undefined
  const kind = tool === undefined ? String((span.kind === 'step' && memberOf(event, 'kind')) || span.kind) : 'tool'
  // The server records when a try fails, and not when the next one starts: it includes the delay before it.
  return closings.map((closing, index) => {
    const from = Date.parse((index === 0 ? event : (closings[index - 1] ?? event)).at)
    const until = closing === undefined ? run.end : Date.parse(closing.at)
    const error = errorText(memberOf(closing ?? {}, 'error')) ?? errorText(memberOf(tool ?? {}, 'error'))
    return {
      ...{ name: closings.length === 1 ? name : `${name} (try ${index + 1})`, kind },
      ...{ startMs: Math.max(0, from - run.start), durationMs: Math.max(0, until - from), depth: 1 },
      status: statusOf(run, closing, error !== undefined),
      ...error,
    }
  })
}

function statusOf({ isEnded }: TracedRun, closing: Event | undefined, isFailed: boolean): string {
  if (closing === undefined) return isEnded ? 'aborted' : 'pending'
  return isFailed || /error|expired/.test(closing.type) ? 'failed' : 'completed'
}

/** Whether the event has the line of a step already: the tool of `ctx.tool`, or the request of `ctx.approval`. */
function isPartOfStep(run: TracedRun, event: Event): boolean {
  const steps = run.events.filter(({ type }) => type === 'step.start')
  if (event.type === 'tool.execute.start') {
    return steps.some((step) => memberOf(event, 'toolCallId') === `${run.id}.${String(memberOf(step, 'seq'))}`)
  }
  if (event.type !== 'approval.requested') return false
  const name = memberOf(event, 'name')
  return steps.some((step) => memberOf(step, 'kind') === 'approval' && memberOf(step, 'step') === name)
}

/** The last event of the tool that a step executes; `undefined` if the step is not a tool call. */
const toolOf = (run: TracedRun, step: Event): Event | undefined =>
  run.events.findLast(
    (one) =>
      one.type.startsWith('tool.execute.') &&
      memberOf(one, 'toolCallId') === `${run.id}.${String(memberOf(step, 'seq'))}`,
  )

/** One line for all text deltas of the run. */
function textLine({ events, start }: TracedRun): readonly TraceLine[] {
  const deltas = events.filter(({ type }) => type === 'text.delta')
  const [first, last] = [deltas[0], deltas.at(-1)]
  if (first === undefined || last === undefined) return []
  const at = Date.parse(first.at)
  return [
    {
      name: `text.delta ×${deltas.length}`,
      kind: 'text',
      startMs: Math.max(0, at - start),
      durationMs: Date.parse(last.at) - at,
      depth: 1,
    },
  ]
}

function errorText(error: unknown): { readonly error: string } | undefined {
  if (!isPlainObject(error)) return undefined
  const code = error.code ?? error.kind
  return { error: [code, error.message].filter((part) => typeof part === 'string').join(': ') }
}

const memberOf = (event: { readonly payload?: unknown }, name: string): unknown =>
  isPlainObject(event.payload) ? event.payload[name] : undefined
