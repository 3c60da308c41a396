import { isFields } from '@perdure/core'
import type { Chunk } from './chunk.ts'
import { messageChunks, partChunk, userMessageChunk } from './item-chunks.ts'
import type { ShownPart } from './message-parts.ts'
import type { UiPart } from './ui-message.ts'

/** The parts of an answer as the AI SDK holds them after it has read the stream of the answer. */
export function answerParts(parts: readonly ShownPart[]): readonly UiPart[] {
  let shown = 0
  return parts.flatMap((part) => {
    const isNewStep = part.step !== shown
    shown = part.step
    return [...(isNewStep ? [{ type: 'step-start' }] : []), ...partsOf(part)]
  })
}

function partsOf({ item, stages }: ShownPart): readonly UiPart[] {
  switch (item.kind) {
    case 'text':
    case 'reasoning':
      return [{ type: item.kind, text: item.text, state: item.isOpen ? 'streaming' : 'done', ...idOf(item) }]
    case 'state':
      return [{ type: 'data-state', id: 'state', data: item.state.value() }]
    case 'tool':
    case 'approval':
      return stages === undefined ? [] : [toolPart(stages.filter((stage) => stage !== undefined))]
    case 'user-message':
      return [userMessageChunk(item, 7)]
    case 'message':
      return messageParts(messageChunks(item))
    default: {
      const chunk = partChunk(item)
      return chunk === undefined ? [] : [chunk]
    }
  }
}

const idOf = ({ kind, id }: { readonly kind: string; readonly id: string }) => (kind === 'reasoning' ? { id } : {})

const messageParts = (chunks: readonly Chunk[]): readonly UiPart[] =>
  chunks.flatMap((chunk) => {
    if (chunk.type === 'text-delta') return [{ type: 'text', text: String(chunk.delta), state: 'done' }]
    return chunk.type.startsWith('text-') ? [] : [chunk]
  })

const STATES: Readonly<Record<string, string>> = {
  'tool-input-start': 'input-streaming',
  'tool-input-available': 'input-available',
  'tool-input-error': 'output-error',
  'tool-approval-request': 'approval-requested',
  'tool-approval-response': 'approval-responded',
  'tool-output-available': 'output-available',
  'tool-output-error': 'output-error',
  'tool-output-denied': 'output-denied',
}

function toolPart(stages: readonly Chunk[]): UiPart {
  let part: UiPart = { type: 'dynamic-tool' }
  const isDynamic = stages[0]?.dynamic === true
  for (const { type, approvalId, approvalDescriptor, approved, reason, dynamic: _, ...members } of stages) {
    const approval = isFields(part.approval) ? part.approval : {}
    part = {
      ...{ ...part, ...members, type: 'dynamic-tool', state: STATES[type] },
      ...(approvalId === undefined
        ? {}
        : {
            approval: {
              ...{ ...approval, id: approvalId },
              ...(approvalDescriptor === undefined ? {} : { descriptor: approvalDescriptor }),
              ...(approved === undefined ? {} : { approved }),
              ...(reason === undefined ? {} : { reason }),
            },
          }),
    }
  }
  return isDynamic ? part : staticPart(part)
}

/** A client that knows the tool finds its name in the type of the part. */
function staticPart({ toolName, ...part }: UiPart): UiPart {
  return { ...part, type: `tool-${String(toolName)}` }
}
