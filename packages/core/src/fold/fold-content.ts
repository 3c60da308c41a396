import { createJsonVersion, type EventType, isAgentEventType } from '@perdure/protocol'
import { type Content, itemIn, put, type Surroundings } from './content.ts'
import { appendToBlock, closeImplicit, completeText, endBlock, startBlock } from './fold-blocks.ts'
import {
  type CallPart,
  type ExecutionPart,
  foldApprovalEnd,
  foldApprovalRequest,
  foldEscalation,
  foldToolCall,
  foldToolExecution,
} from './fold-tools.ts'
import { type Fields, fieldsOf, isFields, type LogEvent, numberIn, textIn } from './log-event.ts'
import { SOURCE_MEMBERS } from './transcript.ts'
import { foldUserMessage } from './user-message.ts'

interface Folding {
  readonly content: Content
  readonly event: LogEvent
  readonly fields: Fields
  readonly around: Surroundings
}

type Fold = (folding: Folding) => Content

const toolCall =
  (part: CallPart): Fold =>
  ({ content, fields }) =>
    foldToolCall(content, fields, part)

const toolExecution =
  (part: ExecutionPart): Fold =>
  ({ content, fields }) =>
    foldToolExecution(content, fields, part)

const approvalRequest: Fold = ({ content, fields, around }) => foldApprovalRequest(content, fields, around.runId)

const FOLDS: Readonly<Record<string, Fold>> = {
  'text.start': ({ content, fields }) => startBlock(content, 'text', fields),
  'text.delta': ({ content, fields, around }) => appendToBlock(content, 'text', fields, around),
  'text.end': ({ content, fields }) => endBlock(content, 'text', fields),
  'text.complete': ({ content, fields, around }) => completeText(content, fields, around),
  'reasoning.start': ({ content, fields }) => startBlock(content, 'reasoning', fields),
  'reasoning.delta': ({ content, fields, around }) => appendToBlock(content, 'reasoning', fields, around),
  'reasoning.end': ({ content, fields }) => endBlock(content, 'reasoning', fields),
  'tool.call.start': toolCall('start'),
  'tool.call.delta': toolCall('delta'),
  'tool.call.end': toolCall('end'),
  'tool.execute.start': toolExecution('start'),
  'tool.execute.progress': toolExecution('progress'),
  'tool.execute.end': toolExecution('end'),
  'tool.execute.error': toolExecution('error'),
  'tool.result': toolExecution('result'),
  'approval.requested': approvalRequest,
  'tool.approval.requested': approvalRequest,
  'approval.escalated': ({ content, fields }) => foldEscalation(content, fields),
  'approval.resolved': ({ content, fields }) => foldApprovalEnd(content, fields, false),
  'approval.expired': ({ content, fields }) => foldApprovalEnd(content, fields, true),
  'part.state': foldState,
  'part.state-delta': foldStateDelta,
  'part.source': ({ content, event, fields }) => {
    const id = textIn(fields, 'sourceId') ?? event.eventId
    return put(closeImplicit(content), {
      kind: 'source',
      id,
      ...textsIn(fields, SOURCE_MEMBERS),
    })
  },
  'part.file': ({ content, event, fields }) => {
    const id = textIn(fields, 'fileId') ?? event.eventId
    const mediaType = textIn(fields, 'mediaType') ?? 'application/octet-stream'
    return put(closeImplicit(content), { kind: 'file', id, mediaType, ...textsIn(fields, ['url', 'data', 'name']) })
  },
  'part.message': ({ content, event, fields }) => {
    const id = (isFields(fields.message) ? textIn(fields.message, 'id') : undefined) ?? event.eventId
    return put(closeImplicit(content), { kind: 'message', id, message: fields.message ?? null })
  },
  'part.data': foldData,
  'run.message': ({ content, event }) => foldUserMessage(content, event),
  'run.child.started': foldChild,
  'run.child.ended': foldChild,
} satisfies Partial<Record<EventType, Fold>>

/** Folds an event that shows something. The content is unchanged for any other event. */
export function foldContent(content: Content, event: LogEvent, around: Surroundings): Content {
  const fold = Object.hasOwn(FOLDS, event.type) ? FOLDS[event.type] : undefined
  if (fold !== undefined) return fold({ content, event, fields: fieldsOf(event), around })
  if (!isAgentEventType(event.type)) return content
  const { eventId: id, type, payload } = event
  return put(content, { kind: 'custom', id, type, payload })
}

function foldState({ content, fields }: Folding): Content {
  const version = createJsonVersion(fields.state ?? null)
  // The first patch needs the size, and has a long turn without measuring.
  version.bytes()
  return { ...content, state: [version] }
}

/** A patch that does not apply changes nothing. */
function foldStateDelta({ content, fields }: Folding): Content {
  const patched = (content.state[0] ?? createJsonVersion({})).patched(fields.patch)
  return patched.ok ? { ...content, state: [patched.version] } : content
}

/** Data with the same name and id replaces earlier data; transient data is not kept. */
function foldData({ content, event, fields }: Folding): Content {
  const name = textIn(fields, 'name')
  if (name === undefined || fields.transient === true) return content
  const own = textIn(fields, 'id')
  const id = own === undefined ? event.eventId : `${name}/${own}`
  return put(closeImplicit(content), { kind: 'data', id, name, data: fields.data ?? null })
}

function foldChild({ content, fields }: Folding): Content {
  const id = textIn(fields, 'childRunId')
  if (id === undefined) return content
  const { agentId = '', seq = 0 } = itemIn(content, 'child', id) ?? {}
  const status = textIn(fields, 'status')
  return put(closeImplicit(content), {
    ...{ kind: 'child', id, agentId: textIn(fields, 'agentId') ?? agentId, seq: numberIn(fields, 'seq') ?? seq },
    ...(status === undefined ? {} : { status }),
  })
}

function textsIn<Name extends string>(fields: Fields, names: readonly Name[]): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = textIn(fields, name)
    if (value !== undefined) found[name] = value
  }
  return found
}
