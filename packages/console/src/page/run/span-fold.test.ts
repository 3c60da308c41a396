import { describe, expect, it } from 'vitest'
import type { Event } from '../client/resources.ts'
import { createSpanFold, type Span } from './span-fold.ts'

const RUN = 'run_1'
let position = 0

const event = (type: string, payload: object = {}, atMs = 0): Event => ({
  eventId: `e.${++position}`,
  subject: 'agent:a/events',
  type,
  payload: { runId: RUN, ...payload },
  at: new Date(atMs).toISOString(),
  runId: RUN,
})

function fold(...events: readonly Event[]): readonly Span[] {
  const spans = createSpanFold()
  for (const one of events) spans.add(one)
  return spans.spans
}

describe('createSpanFold', () => {
  it('makes one span of the start and the end of a step', () => {
    const spans = fold(
      event('step.start', { seq: 1, step: 'fetch', kind: 'step' }, 10),
      event('step.end', { seq: 1, step: 'fetch', kind: 'step' }, 30),
    )

    expect(spans).toMatchObject([{ name: 'fetch', kind: 'step', start: 10, end: 30, status: 'done', seq: 1 }])
  })

  it('makes a span per try of a step that is retried', () => {
    const failure = { error: { code: 'run-failed', message: 'no paper' } }
    const spans = fold(
      event('step.start', { seq: 1, step: 'print', kind: 'step' }),
      event('step.error', { seq: 1, ...failure, willRetry: true }, 10),
      event('step.end', { seq: 1 }, 20),
    )

    expect(spans.map(({ status, end }) => [status, end])).toEqual([
      ['failed', 10],
      ['done', 20],
    ])
    expect(spans[0]?.detail).toBe('run-failed: no paper')
  })

  it.each([
    ['whose id is of an older version', { toolCallId: `${RUN}.2` }],
    ['whose id comes from its approval', { toolCallId: `${RUN}.1`, idempotencyKey: `${RUN}.2` }],
    ['whose id comes from a model', { toolCallId: 'call_1', idempotencyKey: `${RUN}.2` }],
  ])('joins a tool of ctx.tool %s with its step, and keeps the failure of the tool', (_, ids) => {
    const call = { ...ids, toolName: 'send' }
    const spans = fold(
      event('step.start', { seq: 2, step: 'send', kind: 'step' }),
      event('tool.execute.start', { ...call, args: { to: 'a' } }, 1),
      event('tool.execute.error', { ...call, error: { kind: 'timeout', message: 'too slow' } }, 8),
      event('step.end', { seq: 2 }, 9),
    )

    expect(spans).toMatchObject([
      { name: 'send', kind: 'tool', status: 'failed', detail: 'timeout: too slow', input: { to: 'a' }, end: 9 },
    ])
  })

  it('keeps a tool of the agent apart from steps', () => {
    const spans = fold(
      event('tool.execute.start', { toolCallId: 'call-7', toolName: 'search' }),
      event('tool.execute.end', { toolCallId: 'call-7', result: 3 }, 5),
    )

    expect(spans).toMatchObject([{ name: 'search', kind: 'tool', status: 'done', output: 3, end: 5 }])
  })

  it('has the file with the result of a tool', () => {
    const file = { id: 'file_1', url: '/v1/files/file_1', name: 'search.json', mediaType: 'application/json', bytes: 9 }
    const start = event('tool.execute.start', { toolCallId: 'call-7', toolName: 'search' }, 1)
    const end = (detail: object) => event('tool.execute.end', { toolCallId: 'call-7', ...detail }, 5)

    const { url, name, mediaType } = file
    expect(fold(start, end({ result: { file }, isResultInFile: true }))).toMatchObject([
      { file: { url, name, mediaType } },
    ])
    expect(fold(start, end({ result: { file } }))).toMatchObject([{ file: undefined }])
    expect(fold(start, end({ result: 3, isResultInFile: true }))).toMatchObject([{ file: undefined }])
  })

  it('names what a suspended run waits for', () => {
    const waitingFor = [{ kind: 'approval', name: 'deploy' }, { kind: 'resume' }]
    const spans = fold(event('run.suspended', { waitingFor }, 5), event('run.resumed', {}, 50))

    expect(spans).toMatchObject([{ kind: 'wait', name: 'waiting for approval deploy, resume', start: 5, end: 50 }])
  })

  it.each([
    ['sleep', 'nap'],
    ['approval', 'pay'],
    ['event', 'confirmed'],
  ])('shows a wait for a call of the kind %s once', (kind, name) => {
    const spans = fold(
      event('step.start', { seq: 1, step: name, kind }, 0),
      event('run.suspended', { waitingFor: [{ kind, name }] }, 1),
      event('run.resumed', {}, 50),
      event('step.end', { seq: 1 }, 51),
    )

    expect(spans).toMatchObject([{ kind, name, start: 0, end: 51 }])
  })

  it('joins a child run with the call that started it', () => {
    const child = { childRunId: 'run_2', agentId: 'helper', seq: 1 }
    const spans = fold(
      event('step.start', { seq: 1, step: 'helper', kind: 'child' }, 0),
      event('run.child.started', child, 1),
      event('run.suspended', { waitingFor: [{ kind: 'child', name: 'helper', runId: 'run_2' }] }, 2),
      event('run.child.ended', { ...child, status: 'failed' }, 40),
      event('run.resumed', {}, 41),
    )

    expect(spans).toMatchObject([{ kind: 'child', name: 'helper', childRunId: 'run_2', status: 'failed', end: 40 }])
  })

  it('makes one span of what a model writes and of what that has used, and another one after a tool', () => {
    const usage = { provider: 'openai', model: 'small', inputTokens: 20, outputTokens: 10, costUsd: 0.5 }
    const spans = fold(
      event('reasoning.delta', { delta: 'hm' }, 0),
      event('text.delta', { delta: 'I look. ' }, 5),
      event('usage', usage, 6),
      event('tool.execute.start', { toolCallId: 'c', toolName: 'search' }, 7),
      event('tool.execute.end', { toolCallId: 'c', result: 3 }, 8),
      event('text.delta', { delta: 'Three.' }, 9),
      event('usage', usage, 12),
    )

    expect(spans).toMatchObject([
      { kind: 'model', name: 'openai small', start: 0, end: 5, tokens: 30, costUsd: 0.5, output: 'I look. ' },
      { kind: 'tool', name: 'search' },
      { kind: 'model', name: 'openai small', start: 9, tokens: 30, output: 'Three.' },
    ])
  })

  it('makes what happens in a single open step a part of it', () => {
    const spans = fold(
      event('step.start', { seq: 1, step: 'ask', kind: 'step' }),
      event('text.delta', { delta: 'hi' }),
      event('step.end', { seq: 1 }),
      event('step.start', { seq: 2, step: 'left', kind: 'step' }),
      event('step.start', { seq: 3, step: 'right', kind: 'step' }),
      event('tool.execute.start', { toolCallId: 'c', toolName: 'search' }),
    )

    const [step, model, left, right, tool] = spans
    expect(model?.parent).toBe(step?.id)
    expect([step, left, right, tool].map((span) => span?.parent)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('ends open spans with their run, as failed if the run failed', () => {
    const start = event('step.start', { seq: 1, step: 'fetch', kind: 'step' })

    expect(fold(start, event('run.failed', {}, 9))).toMatchObject([{ status: 'failed', end: 9 }])
    expect(fold(start, event('run.completed', {}, 9))).toMatchObject([{ status: 'done', end: 9 }])
    expect(fold(start)).toMatchObject([{ status: 'running', end: undefined }])
  })

  it('ignores ends without a start, and payloads of another form', () => {
    const odd = { ...event('step.start'), payload: 'text' }

    expect(fold(event('step.end', { seq: 9 }), event('tool.execute.end', {}), event('other.type'))).toEqual([])
    expect(fold(odd)).toMatchObject([{ name: 'step', seq: undefined }])
  })
})
