import type * as v from 'valibot'
import { AiSdkRequest, UiMessage, UiMessagePart, UiMessages } from '../resources/ai-sdk.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

const QUESTION: v.InferInput<typeof UiMessage> = {
  id: 'm1',
  role: 'user',
  parts: [{ type: 'text', text: 'What is on my calendar?' }],
}

export const aiSdkSchemas = {
  UiMessagePart: namedObject(UiMessagePart, {
    description: 'A part of a message in the form of the AI SDK. Its other members depend on its type.',
    members: { type: 'What the part holds, such as `text`, `file` or `dynamic-tool`.' },
    example: { type: 'text', text: 'What is on my calendar?' },
  }),
  UiMessage: namedObject(UiMessage, {
    description: 'A message of a chat in the form of the AI SDK.',
    members: {
      id: 'Id of the message. The id of an answer begins with `msg_` and the id of its run.',
      role: 'Author of the message.',
      metadata: 'The run, session and usage of an answer. Absent for other messages.',
      parts: 'Text, tool calls, data and files, in order.',
    },
    example: QUESTION,
  }),
  UiMessages: namedValue(UiMessages, {
    description: 'The messages of a chat, for `useChat({ messages })`.',
    example: [QUESTION],
  }),
  AiSdkRequest: namedObject(AiSdkRequest, {
    description: 'A request of the AI SDK. Members that are not listed here reach the agent as `settings`.',
    members: {
      id: 'The chat that the message belongs to.',
      messages: 'All messages that the client has. The server takes only the new ones.',
      trigger: 'Whether the client sends a message or asks for another answer.',
      messageId: 'Id of the message that the request replaces.',
    },
    example: { id: 'chat-1', messages: [QUESTION], trigger: 'submit-message' },
  }),
} as const satisfies NamedSchemas
