import type { CallKind, EventType } from '@perdure/protocol'
import type { Event } from '../client/resources.ts'
import type { ResultFile } from '../conversation/message-parts.ts'
import { resultFileIn } from '../conversation/result-file.ts'

export type SpanKind = 'run' | 'step' | 'tool' | 'model' | 'approval' | 'child' | 'wait' | 'sleep' | 'event' | 'version'
export type SpanStatus = 'running' | 'done' | 'failed'

/** One bar of the waterfall. */
export interface Span {
  readonly id: string
  name: string
  kind: SpanKind
  readonly start: number // epoch milliseconds
  end: number | undefined
  status: SpanStatus
  /** The number of the durable call, from which a fork may start. */
  readonly seq: number | undefined
  detail: string | undefined
  /** The tokens that a model call has used. */
  tokens: number | undefined
  /** What a model call has cost, in US dollars. */
  costUsd: number | undefined
  /** The span that it is a part of; `undefined` for a part of the run itself. */
  readonly parent: string | undefined
  input: unknown
  output: unknown
  /** The file with the whole output. */
  file: ResultFile | undefined
  childRunId: string | undefined
}

/** Collects the spans of a run, event by event. */
export interface SpanFold {
  readonly spans: readonly Span[]
  add(event: Event): void
}

type Payload = Readonly<Record<string, unknown>>
type SpanHandler = (at: number, payload: Payload, event: Event) => void

export function createSpanFold(): SpanFold {
  const spans: Span[] = []
  const open = new Map<string, Span>()

  /** The only open step: the new span is a part of it. With several steps at the same time, it may belong to each. */
  const stepAround = (kind: SpanKind): string | undefined => {
    if (OF_RUN.has(kind)) return undefined
    const steps = [...open.values()].filter(
      (one) => (one.kind === 'step' || one.kind === 'tool') && one.seq !== undefined,
    )
    return steps.length === 1 ? steps[0]?.id : undefined
  }

  const start = (key: string, at: number, span: Partial<Span> & Pick<Span, 'name' | 'kind'>): Span => {
    const made: Span = {
      id: `${key}#${spans.length}`,
      start: at,
      end: undefined,
      status: 'running',
      seq: undefined,
      detail: undefined,
      tokens: undefined,
      costUsd: undefined,
      parent: span.seq === undefined ? stepAround(span.kind) : undefined,
      input: undefined,
      output: undefined,
      file: undefined,
      childRunId: undefined,
      ...span,
    }
    spans.push(made)
    open.set(key, made)
    return made
  }

  const end = (key: string, at: number, change: Partial<Span> = {}) => {
    const span = open.get(key)
    if (span === undefined) return
    open.delete(key)
    Object.assign(span, { end: at, status: 'done' }, change)
  }

  /** The step of `ctx.tool` that executes the tool. Older events have no `idempotencyKey`; its value was the `toolCallId`. */
  const stepOfTool = ({ toolCallId, idempotencyKey = toolCallId }: Payload, runId: string | undefined) =>
    String(idempotencyKey).startsWith(`${runId}.`)
      ? open.get(`step ${String(idempotencyKey).slice(String(runId).length + 1)}`)
      : undefined

  const startTool = (at: number, payload: Payload, runId: string | undefined) => {
    const { toolCallId, toolName, args } = payload
    // The tool of ctx.tool is a step, and both are one bar.
    const step = stepOfTool(payload, runId)
    if (step !== undefined) {
      Object.assign(step, { kind: 'tool', name: textOf(toolName) ?? step.name, input: args })
      return
    }
    start(`tool ${toolCallId}`, at, { kind: 'tool', name: textOf(toolName) ?? 'tool', input: args })
  }

  const endTool = (at: number, payload: Payload, runId: string | undefined) => {
    const { toolCallId, result, error } = payload
    const detail = errorText(error)
    const status = error === undefined ? 'done' : 'failed'
    const change = { output: error ?? result, file: resultFileIn(payload), detail, status } as const
    const step = stepOfTool(payload, runId)
    if (step !== undefined && step.kind === 'tool') Object.assign(step, change)
    else end(`tool ${toolCallId}`, at, change)
  }

  const endStep = (at: number, { seq, error, willRetry }: Payload) => {
    const key = `step ${seq}`
    const span = open.get(key)
    if (span === undefined) return
    const failed = error === undefined ? span.status === 'failed' : true
    end(key, at, {
      status: failed ? 'failed' : 'done',
      detail: errorText(error) ?? span.detail,
      output: span.output ?? error,
    })
    if (willRetry === true) start(key, at, { kind: span.kind, name: span.name, seq: span.seq })
  }

  /** No event ends a model call: each of its pieces may be the last one. */
  const startModel = (at: number, name: string): Span => {
    const key = `model ${spans.length}`
    const span = start(key, at, { kind: 'model', name, end: at, status: 'done' })
    open.delete(key)
    return span
  }

  /** The model call that writes, if nothing else has happened since it began. */
  let writing: Span | undefined
  /** What the model has written in this call, for the detail of its span. */
  const onText = (at: number, kind: 'answer' | 'reasoning', delta: unknown) => {
    writing ??= startModel(at, kind)
    if (kind === 'answer' && writing.name === 'reasoning') writing.name = kind
    writing.end = at
    if (kind === 'answer' && typeof delta === 'string') writing.output = `${String(writing.output ?? '')}${delta}`
  }

  /** Providers report what a call has used after its last piece. */
  const onUsage = (at: number, { provider, model, inputTokens, outputTokens, costUsd }: Payload) => {
    const name = [textOf(provider), textOf(model)].filter(Boolean).join(' ') || 'model'
    const last = spans.findLast(({ kind }) => kind === 'model')
    const call = last !== undefined && last.tokens === undefined ? last : startModel(at, name)
    Object.assign(call, {
      name,
      tokens: Number(inputTokens) + Number(outputTokens),
      costUsd: Number(costUsd) || undefined,
    })
    call.detail = `${Number(inputTokens).toLocaleString()} tokens in, ${Number(outputTokens).toLocaleString()} out`
    writing = undefined
  }

  /** A wait that has a span of its own (a timer, an approval, a child) is not shown twice. */
  const onSuspended = (at: number, waitingFor: unknown) => {
    const shown = new Set([...open.values()].map(({ kind }) => kind as string))
    const others = Array.isArray(waitingFor)
      ? waitingFor.filter((one: Payload) => !shown.has(one.kind === 'client-tool' ? 'tool' : String(one.kind)))
      : waitingFor
    if (Array.isArray(others) && others.length === 0 && Array.isArray(waitingFor) && waitingFor.length > 0) return
    start('wait', at, { kind: 'wait', name: waitText(others), input: waitingFor })
  }

  /** The call of `ctx.agent` is a step; the child run is what it executes. */
  const startChild = (at: number, { childRunId, agentId, seq }: Payload) => {
    const step = open.get(`step ${String(seq)}`)
    const about = { childRunId: textOf(childRunId), name: textOf(agentId) ?? 'child run' }
    if (step?.kind === 'child') Object.assign(step, about)
    else start(`child ${String(childRunId)}`, at, { kind: 'child', ...about })
  }

  const endChild = (at: number, { childRunId, status }: Payload) => {
    const outcome = { status: status === 'completed' ? ('done' as const) : ('failed' as const), detail: textOf(status) }
    const step = spans.findLast(({ childRunId: id, seq }) => id === childRunId && seq !== undefined)
    if (step === undefined) end(`child ${String(childRunId)}`, at, outcome)
    else Object.assign(step, outcome, { end: step.end ?? at })
  }

  const handlers: Readonly<Record<string, SpanHandler>> = {
    'step.start': (at, { seq, step, kind, dueAt }) =>
      void start(`step ${seq}`, at, {
        kind: kindOf(kind),
        name: textOf(step) ?? 'step',
        seq: typeof seq === 'number' ? seq : undefined,
        detail: textOf(dueAt),
      }),
    'step.end': endStep,
    'step.error': endStep,
    'tool.execute.start': (at, payload, { runId }) => startTool(at, payload, runId),
    'tool.execute.end': (at, payload, { runId }) => endTool(at, payload, runId),
    'tool.execute.error': (at, payload, { runId }) => endTool(at, payload, runId),
    'text.start': (at) => onText(at, 'answer', undefined),
    'text.delta': (at, { delta }) => onText(at, 'answer', delta),
    'text.end': (at) => onText(at, 'answer', undefined),
    'reasoning.start': (at) => onText(at, 'reasoning', undefined),
    'reasoning.delta': (at) => onText(at, 'reasoning', undefined),
    usage: onUsage,
    'run.suspended': (at, { waitingFor }) => onSuspended(at, waitingFor),
    'run.resumed': (at) => end('wait', at),
    'run.child.started': startChild,
    'run.child.ended': endChild,
  } satisfies Partial<Record<EventType, SpanHandler>>

  const endAll = (at: number, status: SpanStatus) => {
    for (const key of [...open.keys()]) {
      const span = open.get(key)
      if (span?.end === undefined) end(key, at, { status })
    }
    open.clear()
  }

  return {
    spans,
    add(event) {
      const at = Date.parse(event.at)
      // The next text is another call of the model.
      if (INTERRUPTS.test(event.type)) writing = undefined
      const payload = (typeof event.payload === 'object' && event.payload !== null ? event.payload : {}) as Payload
      handlers[event.type]?.(at, payload, event)
      if (event.type === 'run.completed') endAll(at, 'done')
      if (event.type === 'run.failed' || event.type === 'run.aborted') endAll(at, 'failed')
    },
  }
}

/** The waits of the run as a whole. */
const OF_RUN: ReadonlySet<string> = new Set(['wait', 'sleep', 'event', 'approval', 'version'])

/** Events between two calls of a model. */
const INTERRUPTS = /^(step\.|tool\.execute\.|tool\.result$|run\.(suspended|resumed|started|message|child\.))/

const STEP_KINDS: Readonly<Record<string, SpanKind>> = {
  step: 'step',
  sleep: 'sleep',
  event: 'event',
  approval: 'approval',
  child: 'child',
  'client-tool': 'tool',
  version: 'version',
} satisfies Record<CallKind, SpanKind>

const kindOf = (kind: unknown): SpanKind => STEP_KINDS[String(kind)] ?? 'step'

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function errorText(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, kind, message } = error as Payload
  return [code ?? kind, message].filter((part) => typeof part === 'string').join(': ')
}

/** What a suspended run waits for, in words. */
export function waitText(waitingFor: unknown): string {
  if (!Array.isArray(waitingFor) || waitingFor.length === 0) return 'waiting'
  const texts = waitingFor.map((one: Payload) => {
    const name = textOf(one.name)
    const kind = String(one.kind).replace('-', ' ')
    return name === undefined ? kind : `${kind} ${name}`
  })
  return `waiting for ${texts.join(', ')}`
}
