import type { ApprovalItem, ToolItem, Transcript } from '@perdure/core'
import { clientCallsOf, waitsForAnswer } from '@perdure/core'
import { isOpenApproval } from '@perdure/protocol'
import type { AgUiEvent } from './item-events.ts'

const RESPONSE = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

/**
 * What the run waits for. The metadata has the `kind`, `toolName` and `input` by which the client of TanStack knows what it can answer. A call of a tool that the client has offered is no interrupt: the client performs the call as soon
 * as the response has ended, and sends a message with the result.
 */
export function interruptsOf(transcript: Transcript, offered: ReadonlySet<string> = new Set()): readonly object[] {
  if (waitsForAnswer(transcript)) return [inputInterrupt(transcript.runId)]
  const calls = new Set(clientCallsOf(transcript))
  return transcript.items.flatMap((item) => {
    if (item.kind === 'tool') return calls.has(item.id) && !offered.has(item.name) ? [callInterrupt(item)] : []
    return item.kind === 'approval' && isOpenApproval(item.status) ? [approvalInterrupt(item)] : []
  })
}

const inputInterrupt = (runId: string): object => ({
  ...{ id: `${runId}.resume`, reason: 'input' },
  metadata: { kind: 'approval', toolName: 'input', input: {} },
})

const approvalInterrupt = ({ id, name, title, payload, toolCallId, assignee }: ApprovalItem): object => ({
  ...{ id, reason: toolCallId === undefined ? 'approval' : 'tool_call', responseSchema: RESPONSE },
  ...(title === undefined ? {} : { message: title }),
  ...(toolCallId === undefined ? {} : { toolCallId }),
  metadata: {
    name,
    ...(payload === undefined ? {} : { payload }),
    ...{ kind: 'approval', toolName: name, input: payload ?? {} },
    ...(assignee === undefined ? {} : { assignee }),
  },
})

const callInterrupt = ({ id, name, title, args }: ToolItem): object => ({
  ...{ id, reason: 'client_tool', toolCallId: id },
  ...(title === undefined ? {} : { message: title }),
  metadata: {
    name,
    ...(args === undefined ? {} : { payload: args }),
    ...{ kind: 'client_tool', toolName: name, input: args ?? {} },
  },
})

/** Asks the client of TanStack to perform its own tools: it does not do so for a call alone, as other clients of AG-UI do. */
export function offeredCalls(transcript: Transcript, offered: ReadonlySet<string> = new Set()): readonly AgUiEvent[] {
  const calls = new Set(clientCallsOf(transcript))
  return transcript.items.flatMap((item) => {
    if (item.kind !== 'tool' || !calls.has(item.id) || !offered.has(item.name)) return []
    const value = { toolCallId: item.id, toolName: item.name, input: item.args ?? {} }
    return [{ type: 'CUSTOM', name: 'tool-input-available', value }]
  })
}
