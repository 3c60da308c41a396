import type { ApprovalItem, ToolItem, Transcript } from '@perdure/core'
import { clientCallsOf, waitsForAnswer } from '@perdure/core'

const RESPONSE = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

/**
 * What the run waits for. A call of a tool that the client has offered is no interrupt: the client performs the call as soon
 * as the response has ended, and sends a message with the result.
 */
export function interruptsOf(transcript: Transcript, offered: ReadonlySet<string> = new Set()): readonly object[] {
  if (waitsForAnswer(transcript)) return [{ id: `${transcript.runId}.resume`, reason: 'input' }]
  const calls = new Set(clientCallsOf(transcript))
  return transcript.items.flatMap((item) => {
    if (item.kind === 'tool') return calls.has(item.id) && !offered.has(item.name) ? [callInterrupt(item)] : []
    return item.kind === 'approval' && item.status === 'pending' ? [approvalInterrupt(item)] : []
  })
}

const approvalInterrupt = ({ id, name, title, payload, toolCallId, assignee }: ApprovalItem): object => ({
  ...{ id, reason: toolCallId === undefined ? 'approval' : 'tool_call', responseSchema: RESPONSE },
  ...(title === undefined ? {} : { message: title }),
  ...(toolCallId === undefined ? {} : { toolCallId }),
  metadata: {
    name,
    ...(payload === undefined ? {} : { payload }),
    ...(assignee === undefined ? {} : { assignee }),
  },
})

const callInterrupt = ({ id, name, title, args }: ToolItem): object => ({
  ...{ id, reason: 'client_tool', toolCallId: id },
  ...(title === undefined ? {} : { message: title }),
  metadata: { name, ...(args === undefined ? {} : { payload: args }) },
})
