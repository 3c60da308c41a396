import {
  ChatCompletionRequest,
  OpenaiConversationRef,
  OpenaiConversationRequest,
  OpenaiInputItem,
  OpenaiMessage,
  OpenaiObject,
  OpenaiResponseRequest,
  OpenaiStreamOptions,
  OpenaiTool,
} from '../resources/openai.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

const MODEL = 'The id of an agent, or `workflow:` and the id of a workflow.'
const METADATA = 'Metadata of the run, at most 16 keys.'
const USER = 'The end user for whom the run works.'
const TOOLS = 'The functions that the client executes, which the agent gets as `tools`.'

export const openaiSchemas = {
  OpenaiTool: namedObject(OpenaiTool, {
    description: 'A function that the client executes. Its other members are passed to the agent.',
    members: { type: 'Must be `function`.' },
    example: { type: 'function', function: { name: 'pickColor', parameters: { type: 'object' } } },
  }),
  OpenaiStreamOptions: namedObject(OpenaiStreamOptions, {
    description: 'Options of a streamed Chat Completion.',
    members: { include_usage: 'Whether the last chunk has the usage.' },
    example: { include_usage: true },
  }),
  OpenaiConversationRef: namedObject(OpenaiConversationRef, {
    description: 'A conversation by its id.',
    members: { id: 'Id of a session, or an id that the client chooses.' },
    example: { id: 'thread-1' },
  }),
  OpenaiMessage: namedObject(OpenaiMessage, {
    description: 'A message in the form of Chat Completions.',
    members: {
      role: 'Author of the message.',
      content: 'Text, or an array of parts.',
      tool_call_id: 'The call that a message of the role `tool` answers.',
      tool_calls: 'The calls that the assistant has made.',
      name: 'Name of the author.',
    },
    example: { role: 'user', content: 'What is on my calendar?' },
  }),
  ChatCompletionRequest: namedObject(ChatCompletionRequest, {
    description: 'A request in the form of Chat Completions. Sampling parameters reach the agent as `settings`.',
    members: {
      model: MODEL,
      messages: 'The whole chat; with `metadata.session_id`, only the messages after the last answer count.',
      stream: 'Whether the answer is streamed.',
      stream_options: 'With `include_usage`, the last chunk has the usage.',
      metadata: `${METADATA} \`session_id\` names the session.`,
      user: USER,
      tools: TOOLS,
    },
    example: { model: 'mail', messages: [{ role: 'user', content: 'What is on my calendar?' }] },
  }),
  OpenaiInputItem: namedObject(OpenaiInputItem, {
    description: 'An item of the input of a Response.',
    members: {
      type: 'What the item is; `message` if missing.',
      role: 'Author of a message.',
      content: 'Text of a message, or an array of parts.',
      approval_request_id: 'The approval request that the item answers.',
      approve: 'Whether the request is approved.',
      reason: 'Reason of the decision.',
      call_id: 'The function call that the item answers.',
      output: 'Output of the function call.',
    },
    example: { type: 'mcp_approval_response', approval_request_id: 'mcpr_apr_1', approve: true },
  }),
  OpenaiResponseRequest: namedObject(OpenaiResponseRequest, {
    description: 'A request in the form of Responses.',
    members: {
      model: MODEL,
      input: 'A text, or a list of messages and answers.',
      instructions: 'Text for the agent, which it gets as `context`.',
      stream: 'Whether the events are streamed.',
      background: 'Whether the server answers before the run has ended.',
      store: 'The server records every run. False is accepted only outside a conversation and without `background`.',
      previous_response_id: 'The response that this one continues.',
      conversation: 'Id of the conversation: of a session, or one that the client chooses.',
      metadata: METADATA,
      user: USER,
      tools: TOOLS,
    },
    example: { model: 'mail', input: 'What is on my calendar?' },
  }),
  OpenaiConversationRequest: namedObject(OpenaiConversationRequest, {
    description: 'A request to create or change a Conversation.',
    members: {
      metadata: 'Metadata of the session, at most 16 keys.',
      items: 'Must be empty: a conversation begins with its first response.',
    },
    example: { metadata: { topic: 'travel' } },
  }),
  OpenaiObject: namedObject(OpenaiObject, {
    description: 'An object in the form of OpenAI. Its other members depend on its kind.',
    members: { object: 'Kind of the object, such as `response` or `chat.completion`.' },
    example: { object: 'model', id: 'mail', created: 0, owned_by: 'perdure' },
  }),
} as const satisfies NamedSchemas
