import type { LogEvent } from '@perdure/core'
import fc from 'fast-check'

export const RUN = 'run_1'

/** Events with the ids that a log would give them. */
export const logOf = (events: readonly (readonly [type: string, payload?: unknown])[]): readonly LogEvent[] =>
  events.map(([type, payload = {}], index) => ({
    ...{ eventId: `e.${index + 1}`, type, payload },
    at: '2026-01-01T00:00:00.000Z',
  }))

const id = fc.constantFrom('a', 'b', 'c')
/** Shared by approvals only: the id of an approval without a tool call is also the id of its call. */
const approvalId = fc.constantFrom('apr_a', 'apr_b', 'apr_c')
const text = fc.string({ maxLength: 5 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

type Drawn = readonly [type: string, payload: unknown]

const drawn = (
  types: readonly string[],
  payload: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Drawn> => fc.tuple(fc.constantFrom(...types), fc.record(payload).map(withoutUndefined))

/** As JSON would carry it. */
const withoutUndefined = (payload: object): unknown => JSON.parse(JSON.stringify(payload))

const error = maybe(fc.record({ kind: text, message: text }))

/** What an agent can emit. */
export const agentEvent: fc.Arbitrary<Drawn> = fc.oneof(
  drawn(['text.start', 'text.end', 'reasoning.start', 'reasoning.end'], { messageId: id, blockId: maybe(id) }),
  drawn(['text.delta', 'reasoning.delta'], { delta: text, messageId: maybe(id), blockId: maybe(id) }),
  drawn(['text.complete'], { text, messageId: maybe(id) }),
  drawn(['tool.call.start', 'tool.call.delta', 'tool.call.end'], {
    ...{ toolCallId: id, toolName: id, argsDelta: maybe(text), args: maybe(fc.jsonValue()) },
  }),
  drawn(['tool.execute.start', 'tool.execute.progress', 'tool.execute.end', 'tool.execute.error', 'tool.result'], {
    ...{ toolCallId: id, toolName: id, result: maybe(fc.jsonValue()), error },
  }),
  drawn(['part.state'], { state: fc.jsonValue() }),
  drawn(['part.state-delta'], {
    patch: fc.array(
      fc.record({ op: fc.constantFrom('add', 'remove'), path: fc.constantFrom('', '/a', '/0'), value: id }),
    ),
  }),
  drawn(['part.source', 'part.file'], { sourceId: id, fileId: id, mediaType: maybe(text), url: maybe(text) }),
  drawn(['part.message'], { message: fc.jsonValue() }),
  drawn(['part.data'], { name: id, id: maybe(id), data: fc.jsonValue() }),
  drawn(['weather.seen'], { celsius: fc.nat() }),
)

/** What the server adds without a change of the code's position. */
export const serverEvent: fc.Arbitrary<Drawn> = fc.oneof(
  drawn(['approval.requested', 'tool.approval.requested'], {
    ...{
      approvalId,
      runId: fc.constantFrom(RUN, 'run_2'),
      assignee: maybe(fc.constantFrom('user', 'staff')),
      name: id,
      toolCallId: maybe(id),
      payload: maybe(fc.jsonValue()),
    },
  }),
  drawn(['approval.reminder', 'approval.escalated'], { approvalId, assignee: fc.constantFrom('user', 'staff') }),
  drawn(['approval.resolved', 'approval.expired'], { approvalId, decision: fc.constantFrom('approved', 'denied') }),
  drawn(['run.child.started', 'run.child.ended'], { childRunId: id, agentId: id, seq: fc.nat(), status: maybe(id) }),
  drawn(['usage'], { provider: id, model: id, inputTokens: fc.nat() }),
  drawn(['run.log', 'checkpoint.written'], { message: text }),
)

/** What moves the position to which a new attempt takes the content back. */
export const markEvent: fc.Arbitrary<Drawn> = drawn(['step.start', 'step.end'], {
  seq: fc.nat({ max: 3 }),
  step: id,
  kind: fc.constant('step'),
  finishReason: maybe(fc.constantFrom('stop', 'length', 'max_tokens', 'odd')),
})

const lifecycleEvent: fc.Arbitrary<Drawn> = fc.oneof(
  drawn(['run.started', 'run.queued', 'run.resumed', 'run.retrying'], {
    status: fc.constant('running'),
    attempt: fc.nat(),
  }),
  drawn(['run.suspended'], {
    status: fc.constant('suspended'),
    attempt: fc.nat(),
    reason: maybe(fc.constant('version')),
  }),
  drawn(['run.completed'], { status: fc.constant('completed'), finishReason: id, result: fc.jsonValue() }),
  drawn(['step.error'], { seq: fc.nat({ max: 3 }), willRetry: fc.boolean() }),
  drawn(['run.rewound'], { attempt: fc.nat(), after: fc.nat({ max: 30 }).map((position) => `e.${position}`) }),
)

/** Any payload under any known type. */
const malformedEvent: fc.Arbitrary<Drawn> = fc.tuple(
  fc.oneof(agentEvent, serverEvent, markEvent, lifecycleEvent).map(([type]) => type),
  fc.jsonValue(),
)

/** Any log, also one that no run writes. */
export const anyLog: fc.Arbitrary<readonly LogEvent[]> = fc
  .array(fc.oneof(agentEvent, serverEvent, markEvent, lifecycleEvent, malformedEvent), { maxLength: 40 })
  .map(logOf)
