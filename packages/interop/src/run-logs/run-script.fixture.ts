import type { LogEvent } from '@perdure/core'
import fc from 'fast-check'
import { logOf, RUN } from './events.fixture.ts'

type Drawn = readonly [type: string, payload?: unknown]

const word = fc.string({ minLength: 1, maxLength: 4 })

/** What the code of a run does next. `id` is unique in the run. */
const acts: readonly ((id: string) => fc.Arbitrary<readonly Drawn[]>)[] = [
  (id) =>
    fc
      .array(word, { maxLength: 4 })
      .map((words) => [
        ['text.start', { messageId: id }],
        ...words.map((delta): Drawn => ['text.delta', { messageId: id, delta }]),
        ['text.end', { messageId: id }],
      ]),
  () => fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.map((delta) => ['text.delta', { delta }])),
  () =>
    fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.map((delta) => ['reasoning.delta', { delta }])),
  (id) =>
    fc.constantFrom('end', 'error').map((end) => toolCall(id, [['tool.execute.start', tool(id)], outcome(id, end)])),
  (id) =>
    fc.constant(toolCall(id, [['tool.result', { toolCallId: id, error: { kind: 'invalid_input', message: 'no' } }]])),
  (id) =>
    fc.constantFrom('approved', 'denied').map((decision) => {
      const ran: readonly Drawn[] = [['tool.execute.start', tool(id)], outcome(id, 'end')]
      return [
        ...toolCall(id, []),
        ...approval(id, decision, { toolCallId: id }),
        ...(decision === 'approved' ? ran : [outcome(id, 'error')]),
      ]
    }),
  (id) => fc.constantFrom('approved', 'denied').map((decision) => approval(id, decision, {})),
  (id) => fc.boolean().map((isSaid) => [...(isSaid ? toolCall(id, []) : []), ...clientTool(id)]),
  (id) => fc.jsonValue().map((data) => [['part.data', { name: 'chart', id, data }]]),
  () => fc.record({ n: fc.nat() }).map((state) => [['part.state', { state }]]),
  (id) => fc.constant([['part.source', { sourceId: id, url: `https://example.com/${id}` }]]),
  () => fc.constant([['usage', { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2, costUsd: 0 }]]),
  () => fc.constant([['weather.seen', { celsius: 3 }]]),
]

const tool = (toolCallId: string) => ({ toolCallId, toolName: 'mail', args: { to: toolCallId } })

const toolCall = (id: string, rest: readonly Drawn[]): readonly Drawn[] => [
  ['tool.call.start', { toolCallId: id, toolName: 'mail' }],
  ['tool.call.delta', { toolCallId: id, toolName: 'mail', argsDelta: '{"to":' }],
  ['tool.call.delta', { toolCallId: id, toolName: 'mail', argsDelta: `"${id}"}` }],
  ['tool.call.end', { toolCallId: id, toolName: 'mail', args: { to: id } }],
  ...rest,
]

const outcome = (id: string, end: string): Drawn =>
  end === 'end'
    ? ['tool.execute.end', { ...tool(id), result: { sent: true } }]
    : ['tool.execute.error', { ...tool(id), error: { kind: 'execution_failed', message: 'no' } }]

const question = (id: string, more: object): readonly Drawn[] => [
  ['approval.requested', { approvalId: `apr_${id}`, runId: RUN, name: 'send', title: 'Send?', ...more }],
  ['run.suspended', { status: 'suspended', attempt: 1, waitingFor: [{ kind: 'approval', approvalId: `apr_${id}` }] }],
]

const approval = (id: string, decision: string, more: object): readonly Drawn[] => [
  ...question(id, more),
  ['approval.resolved', { approvalId: `apr_${id}`, runId: RUN, name: 'send', decision, by: 'alice', ...more }],
  ['run.resumed', { status: 'queued', attempt: 1 }],
  ['run.started', { status: 'running', attempt: 1 }],
]

const clientTool = (id: string): readonly Drawn[] => [
  ['tool.call.end', { ...tool(id), executor: 'client' }],
  [
    'run.suspended',
    { status: 'suspended', attempt: 1, waitingFor: [{ kind: 'client-tool', name: 'mail', toolCallId: id }] },
  ],
  ['tool.result', { toolCallId: id, result: 'ok' }],
  ['run.resumed', { status: 'queued', attempt: 1 }],
  ['run.started', { status: 'running', attempt: 1 }],
]

const inStep = (seq: number, events: readonly Drawn[]): readonly Drawn[] => [
  ['step.start', { seq, step: 'call', kind: 'step' }],
  ...events,
  ['step.end', { seq, step: 'call', kind: 'step', finishReason: 'stop' }],
]

const act = (index: number) =>
  fc
    .tuple(fc.nat({ max: acts.length - 1 }), fc.boolean())
    .chain(([which, isStep]) =>
      (acts[which] as (id: string) => fc.Arbitrary<readonly Drawn[]>)(`c${index}`).map((events) =>
        isStep ? inStep(index, events) : events,
      ),
    )

const ends: fc.Arbitrary<readonly Drawn[]> = fc.constantFrom<readonly Drawn[]>(
  [],
  [['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed', result: { text: 'all done' } }]],
  [
    [
      'run.failed',
      { status: 'failed', attempt: 1, finishReason: 'error', error: { code: 'run-failed', message: 'no' } },
    ],
  ],
  [['run.aborted', { status: 'aborted', attempt: 1, finishReason: 'aborted', reason: 'enough' }]],
  question('last', {}),
  [...toolCall('last', []), ...question('last', { toolCallId: 'last' })],
)

/** A log as a server writes it for code that says, calls and asks things. */
export const runScript: fc.Arbitrary<readonly LogEvent[]> = fc
  .tuple(
    fc.array(fc.constant(0), { maxLength: 7 }).chain((list) => fc.tuple(...list.map((_, index) => act(index + 1)))),
    ends,
  )
  .map(([parts, end]) => logOf([['run.started', { status: 'running', attempt: 1 }], ...parts.flat(), ...end]))
