import type { Event } from '../api/resources.ts'

export type SpanKind = 'step' | 'tool' | 'model' | 'approval' | 'child' | 'wait' | 'sleep' | 'event' | 'version'
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
  readonly tokens: number | undefined
  input: unknown
  output: unknown
  childRunId: string | undefined
}

/** Collects the spans of a run, event by event. */
export interface SpanFold {
  readonly spans: readonly Span[]
  add(event: Event): void
}

type Payload = Readonly<Record<string, unknown>>

export function createSpanFold(): SpanFold {
  const spans: Span[] = []
  const open = new Map<string, Span>()

  const start = (key: string, at: number, span: Partial<Span> & Pick<Span, 'name' | 'kind'>): Span => {
    const made: Span = {
      id: `${key}#${spans.length}`,
      start: at,
      end: undefined,
      status: 'running',
      seq: undefined,
      detail: undefined,
      tokens: undefined,
      input: undefined,
      output: undefined,
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
    const step = stepOfTool(payload, runId)
    if (step !== undefined && step.kind === 'tool') Object.assign(step, { output: error ?? result, detail, status })
    else end(`tool ${toolCallId}`, at, { output: error ?? result, detail, status })
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

  const onText = (at: number, kind: 'answer' | 'reasoning', messageId: unknown) => {
    const key = `model ${kind} ${String(messageId ?? '')}`
    const span = open.get(key) ?? start(key, at, { kind: 'model', name: kind })
    span.end = at
    span.status = 'done'
  }

  const handlers: Readonly<Record<string, (at: number, payload: Payload, event: Event) => void>> = {
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
    'text.start': (at, { messageId }) => onText(at, 'answer', messageId),
    'text.delta': (at, { messageId }) => onText(at, 'answer', messageId),
    'text.end': (at, { messageId }) => onText(at, 'answer', messageId),
    'reasoning.start': (at, { messageId }) => onText(at, 'reasoning', messageId),
    'reasoning.delta': (at, { messageId }) => onText(at, 'reasoning', messageId),
    usage: (at, payload) => {
      const { provider, model, inputTokens, outputTokens } = payload
      const name = [textOf(provider), textOf(model)].filter(Boolean).join(' ') || 'model'
      start(`usage ${spans.length}`, at, {
        ...{ kind: 'model', name, end: at, status: 'done', output: payload },
        tokens: Number(inputTokens) + Number(outputTokens),
      })
    },
    'run.suspended': (at, { waitingFor }) =>
      void start('wait', at, { kind: 'wait', name: waitText(waitingFor), input: waitingFor }),
    'run.resumed': (at) => end('wait', at),
    'run.child.started': (at, { childRunId, agentId }) =>
      void start(`child ${childRunId}`, at, {
        ...{ kind: 'child', name: textOf(agentId) ?? 'child run', childRunId: textOf(childRunId) },
      }),
    'run.child.ended': (at, { childRunId, status }) =>
      end(`child ${childRunId}`, at, { status: status === 'completed' ? 'done' : 'failed', detail: textOf(status) }),
  }

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
      const payload = (typeof event.payload === 'object' && event.payload !== null ? event.payload : {}) as Payload
      handlers[event.type]?.(at, payload, event)
      if (event.type === 'run.completed') endAll(at, 'done')
      if (event.type === 'run.failed' || event.type === 'run.aborted') endAll(at, 'failed')
    },
  }
}

const STEP_KINDS: Readonly<Record<string, SpanKind>> = {
  step: 'step',
  sleep: 'sleep',
  event: 'event',
  approval: 'approval',
  child: 'child',
  'client-tool': 'tool',
  version: 'version',
}

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
    return name === undefined ? String(one.kind) : `${String(one.kind)} ${name}`
  })
  return `waiting for ${texts.join(', ')}`
}
