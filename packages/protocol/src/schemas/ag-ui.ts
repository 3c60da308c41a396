import { AgUiCapabilities, AgUiMessage, AgUiRequest, AgUiResume } from '../resources/ag-ui.ts'
import { APPROVAL_ID } from './approvals.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

export const agUiSchemas = {
  AgUiMessage: namedObject(AgUiMessage, {
    description: 'A message of a thread in the form of AG-UI.',
    members: {
      id: 'Id of the message, chosen by its author.',
      role: 'Author of the message, such as `user` or `assistant`.',
      content: 'Text, or an array of parts.',
    },
    example: { id: 'm1', role: 'user', content: 'What is on my calendar?' },
  }),
  AgUiResume: namedObject(AgUiResume, {
    description: 'The answer to an interrupt.',
    members: {
      interruptId: 'Id of the interrupt: the id of the approval or of its tool call.',
      status: '`resolved` if the user has answered, `cancelled` otherwise.',
      payload:
        'The answer. For an approval, an object with `approved`, a boolean, and optionally `reason`; for a request for input, any value.',
    },
    example: { interruptId: APPROVAL_ID, status: 'resolved', payload: { approved: true } },
  }),
  AgUiRequest: namedObject(AgUiRequest, {
    description: 'The request of an AG-UI client.',
    members: {
      threadId: 'Id of the conversation, which the client chooses, or id of a session.',
      runId: 'Id that the client chooses for the run. A request that repeats it follows the same run.',
      protocolVersion: 'Version of AG-UI that the client speaks.',
      messages: 'All messages that the client has. The server takes only the new ones.',
      state: 'State of the client. The agent receives it as `state`.',
      tools: 'Tools that the client offers, at most 100. The agent receives them as `tools`.',
      context: 'Facts about the application. The agent receives them as `context`.',
      forwardedProps: 'Other values of the application. The agent receives them as `settings`.',
      resume: 'Answers to all open interrupts of the thread.',
    },
    example: {
      threadId: 'thread-1',
      runId: 'run-1',
      messages: [{ id: 'm1', role: 'user', content: 'What is on my calendar?' }],
    },
  }),
  AgUiCapabilities: namedValue(AgUiCapabilities, {
    description: 'What AG-UI clients can use of an agent, by area.',
    example: {
      transport: { streaming: true, resumable: true },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true },
    },
  }),
} as const satisfies NamedSchemas
