import { describe, expect, it } from 'vitest'
import { logOf, RUN } from '../run-logs/events.fixture.ts'
import { createResponseProjector } from './response-projector.ts'

type Logged = readonly [type: string, payload?: unknown]

interface Shown {
  readonly type: string
  readonly response?: { readonly status: string; readonly metadata: object; readonly error: unknown }
  readonly item?: {
    readonly type: string
    readonly phase?: string
    readonly status: string
    readonly summary?: unknown
  }
}

/** What a client gets that reads the events of a run. */
function shown(events: readonly Logged[], isBackground = true, segment = 1): readonly Shown[] {
  const projector = createResponseProjector({
    ...{ runId: RUN, agentId: 'mail', model: 'mail', segment, startedAt: 1, metadata: { a: 'b' }, isBackground },
  })
  const frames = [...logOf(events).flatMap((event) => projector.next(event)), ...(projector.rest() ?? [])]
  return frames.map(({ event, data }) => ({ ...JSON.parse(data), type: event }) as Shown)
}

const QUEUED: Logged = ['run.queued', { status: 'queued', attempt: 1 }]
const STARTED: Logged = ['run.started', { status: 'running', attempt: 1 }]
const COMPLETED: Logged = ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed' }]

describe('a response', () => {
  it('in the background is queued until its run executes', () => {
    const types = (isBackground: boolean) => shown([QUEUED, STARTED, COMPLETED], isBackground).map(({ type }) => type)

    expect(types(true)).toEqual([
      ...['response.created', 'response.queued', 'response.in_progress', 'response.completed'],
    ])
    expect(types(false)).toEqual(['response.created', 'response.in_progress', 'response.completed'])
  })

  it('marks commentary, and shows what the agent thinks as a summary', () => {
    const events: Logged[] = [
      STARTED,
      ['text.start', { messageId: 'a', phase: 'commentary' }],
      ['text.delta', { messageId: 'a', delta: 'Let me see.' }],
      ['text.end', { messageId: 'a' }],
      ['reasoning.delta', { delta: 'Hm.' }],
      ['text.delta', { messageId: 'b', delta: 'Yes.' }],
      COMPLETED,
    ]
    const done = shown(events).flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []))

    expect(done).toMatchObject([
      { type: 'message', phase: 'commentary', status: 'completed' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', phase: 'final_answer' },
    ])
  })

  it('has the usage since the one before it', () => {
    const usage: Logged = [
      'usage',
      { provider: 'p', model: 'm', inputTokens: 10, cachedInputTokens: 4, outputTokens: 2, costUsd: 0 },
    ]
    const asked = { approvalId: 'apr_1', runId: RUN, name: 'send' }
    const suspended = { status: 'suspended', attempt: 1, waitingFor: [{ kind: 'approval', approvalId: 'apr_1' }] }
    const events: Logged[] = [
      ...[STARTED, usage, ['approval.requested', asked] as const, ['run.suspended', suspended] as const],
      ...[['approval.resolved', { ...asked, decision: 'approved' }] as const, STARTED, usage, usage, COMPLETED],
    ]
    const last = (segment: number) => shown(events, true, segment).at(-1)?.response
    const tokens = (input: number, cached: number) => ({
      usage: { input_tokens: input, input_tokens_details: { cached_tokens: cached } },
    })
    expect(last(1)).toMatchObject(tokens(10, 4))
    expect(last(2)).toMatchObject(tokens(20, 8))
  })

  it.each([
    ['timeout', 'failed'],
    ['budget-exhausted', 'failed'],
  ])('is incomplete if its run ended with %s, and names the reason', (finishReason, status) => {
    const end: Logged = [`run.${status}`, { status, attempt: 1, finishReason, error: { code: 'x', message: 'x' } }]
    const last = shown([STARTED, end]).at(-1)

    expect(last?.type).toBe('response.incomplete')
    expect(last?.response).toMatchObject({ status: 'incomplete', metadata: { a: 'b', perdure_reason: finishReason } })
  })

  it('is cancelled if its run was aborted, in an event that the client knows', () => {
    const end: Logged = ['run.aborted', { status: 'aborted', attempt: 1, finishReason: 'aborted', reason: 'enough' }]
    const last = shown([STARTED, ['text.delta', { delta: 'So' }], end]).at(-1)

    expect(last?.type).toBe('response.incomplete')
    expect(last?.response).toMatchObject({ status: 'cancelled', error: null })
  })

  it('has failed if its run has', () => {
    const error = { code: 'run-failed', message: 'the model is gone' }
    const last = shown([STARTED, ['run.failed', { status: 'failed', attempt: 1, finishReason: 'error', error }]]).at(-1)

    expect(last?.type).toBe('response.failed')
    expect(last?.response).toMatchObject({ error: { code: 'server_error', message: 'the model is gone' } })
  })
})
