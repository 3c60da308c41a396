import { type EventType, isOpenApproval } from '@perdure/protocol'
import type { Event } from '../client/resources.ts'
import { createBlocks } from './fold-blocks.ts'
import { createCalls } from './fold-calls.ts'
import { createParts, type Fields, isFields, textOf } from './fold-parts.ts'
import type { MessagePart } from './message-parts.ts'

type Handler = (fields: Fields, event: Event) => void

/** Joins the pieces of the answer and of the reasoning, and the calls of tools, in the order in which they begin. */
export function messagesOf(events: readonly Event[]): readonly MessagePart[] {
  const parts = createParts()
  const blocks = createBlocks(parts)
  const put = (part: MessagePart) => {
    blocks.closeImplicit()
    parts.put(part)
  }
  const calls = createCalls({ put, find: parts.find })

  const child: Handler = ({ childRunId, agentId, status }) => {
    if (typeof childRunId !== 'string') return
    const name = textOf(agentId) ?? parts.find('child', childRunId)?.name ?? 'child run'
    put({ kind: 'child', id: childRunId, name, status: textOf(status) })
  }
  /** Data with the same name and id replaces earlier data; transient data is not kept. */
  const data: Handler = ({ name, data: value, id, transient }, { eventId }) => {
    if (typeof name !== 'string' || transient === true) return
    put({ kind: 'data', id: id === undefined ? eventId : `${name}/${String(id)}`, name, data: value ?? null })
  }

  const handlers: Readonly<Record<string, Handler>> = {
    'text.start': (fields) => blocks.start('text', fields),
    'text.delta': (fields) => blocks.append('text', fields),
    'text.end': (fields) => blocks.end('text', fields),
    'text.complete': blocks.complete,
    'reasoning.start': (fields) => blocks.start('reasoning', fields),
    'reasoning.delta': (fields) => blocks.append('reasoning', fields),
    'reasoning.end': (fields) => blocks.end('reasoning', fields),
    'tool.call.start': (fields) => calls.call('start', fields),
    'tool.call.delta': (fields) => calls.call('delta', fields),
    'tool.call.end': (fields) => calls.call('end', fields),
    'tool.execute.start': calls.execute,
    'tool.execute.progress': (fields) => 'result' in fields && calls.answer({ ...fields, preliminary: true }),
    'tool.execute.end': calls.answer,
    'tool.execute.error': (fields) => calls.answer({ ...fields, error: fields.error ?? {} }),
    'tool.result': calls.answer,
    'approval.requested': (fields, { runId }) => calls.ask(fields, runId),
    'tool.approval.requested': (fields, { runId }) => calls.ask(fields, runId),
    'approval.resolved': (fields) => calls.decide(fields.decision === 'approved' ? 'approved' : 'denied', fields),
    'approval.expired': (fields) => calls.decide('expired', fields),
    'part.state': ({ state }) => put({ kind: 'data', id: 'state', name: 'state', data: state ?? null }),
    'part.state-delta': () => {
      const known = parts.find('data', 'state')
      if (known !== undefined) put({ ...known, name: 'state (changed since; the changes are in the events)' })
    },
    'part.source': ({ sourceId, url, title }, { eventId }) =>
      put({ kind: 'source', id: textOf(sourceId) ?? eventId, url: textOf(url), title: textOf(title) }),
    'part.file': ({ fileId, mediaType = 'application/octet-stream', url, data: content, name }, { eventId }) =>
      put({
        ...{ kind: 'file', id: textOf(fileId) ?? eventId, mediaType: String(mediaType) },
        ...{ url: textOf(url), data: textOf(content), name: textOf(name) },
      }),
    'part.message': ({ message }, { eventId }) => put({ kind: 'message', id: eventId, message: message ?? null }),
    'part.data': data,
    'run.message': ({ from, content }, { eventId }) =>
      put({ kind: 'sent', id: textOf(from) ?? eventId, content: content ?? null }),
    'run.child.started': child,
    'run.child.ended': child,
  } satisfies Partial<Record<EventType, Handler>>

  const add = (event: Event) => {
    const { type, payload } = event
    if (SEGMENT_ENDS.test(type)) blocks.closeAll()
    const handle = Object.hasOwn(handlers, type) ? handlers[type] : undefined
    if (handle === undefined && !isOfServer(type)) data({ name: type, data: payload }, event)
    if (handle !== undefined && isFields(payload)) handle(payload, event)
    if (CUT_OFF.test(type)) endQuestions()
  }
  /** A run that was cut off asks nothing any more. */
  const endQuestions = () => {
    for (const part of parts.list()) {
      if (part.kind === 'approval' && isOpenApproval(part.state)) calls.decide('expired', { approvalId: part.id })
    }
  }

  for (const event of withoutWithdrawn(events)) add(event)
  return parts.list().filter((part) => !('text' in part) || part.text !== '')
}

/** The events at which no block stays open. */
const SEGMENT_ENDS = /^run\.(started|suspended|retrying|completed|failed|aborted)$/
const CUT_OFF = /^run\.(failed|aborted)$/

/** The events that an agent cannot emit. */
const isOfServer = (type: string): boolean =>
  /^(run|approval|step|checkpoint|session|trigger|memory|audit|usage|tool\.approval)(\.|$)/.test(type)

/** The log without what the agent had emitted before a new attempt emitted it again. */
function withoutWithdrawn(events: readonly Event[]): readonly Event[] {
  let kept: readonly Event[] = events
  for (const event of events) {
    if (event.type !== 'run.rewound' || !isFields(event.payload)) continue
    const { after } = event.payload
    const from = kept.findIndex(({ eventId }) => eventId === after)
    const to = kept.indexOf(event)
    // A log that lacks the event keeps everything.
    if (from !== -1) kept = kept.filter((one, at) => at <= from || at >= to || isOfServer(one.type))
  }
  return kept
}
