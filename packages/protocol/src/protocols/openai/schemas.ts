import * as v from 'valibot'
import { documented, member } from '../../documented.ts'
import { SentMetadata } from '../../resources/metadata.ts'

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

/** An agent, or `workflow:` and the id of a workflow. */
const Model = v.pipe(v.string(), v.minLength(1), v.maxLength(256))

export const OpenaiMessage = documented(
  v.objectWithRest(
    {
      role: member(v.picklist(['system', 'developer', 'user', 'assistant', 'tool']), 'Author of the message.'),
      content: member(v.optional(v.unknown()), 'Text, or an array of parts.'),
      tool_call_id: member(v.nullish(v.string()), 'The call that a message of the role `tool` answers.'),
      tool_calls: member(v.optional(v.unknown()), 'The calls that the assistant has made.'),
      name: member(v.optional(v.unknown()), 'Name of the author.'),
    },
    v.unknown(),
  ),
  'A message in the form of Chat Completions.',
  { role: 'user', content: 'What is on my calendar?' },
)

export const OpenaiTool = documented(
  v.objectWithRest({ type: member(v.string(), 'Must be `function`.') }, v.unknown()),
  'A function that the client executes. Its other members are passed to the agent.',
  { type: 'function', function: { name: 'pickColor', parameters: { type: 'object' } } },
)

const OpenaiTools = v.nullish(v.pipe(v.array(OpenaiTool), v.maxLength(128)))

export const OpenaiStreamOptions = documented(
  v.objectWithRest(
    { include_usage: member(v.nullish(v.boolean()), 'Whether the last chunk has the usage.') },
    v.unknown(),
  ),
  'Options of a streamed Chat Completion.',
  { include_usage: true },
)

export const OpenaiConversationRef = documented(
  v.objectWithRest({ id: member(Name, 'Id of a session, or an id that the client chooses.') }, v.unknown()),
  'A conversation by its id.',
  { id: 'thread-1' },
)

export const ChatCompletionRequest = documented(
  v.objectWithRest(
    {
      model: member(Model, 'The id of an agent, or `workflow:` and the id of a workflow.'),
      messages: member(
        v.pipe(v.array(OpenaiMessage), v.minLength(1, 'must have at least one message')),
        'The whole chat; with `metadata.session_id`, only the messages after the last answer count.',
      ),
      stream: member(v.nullish(v.boolean()), 'Whether the answer is streamed.'),
      stream_options: member(v.nullish(OpenaiStreamOptions), 'With `include_usage`, the last chunk has the usage.'),
      metadata: member(
        v.nullish(SentMetadata),
        'Metadata of the run, at most 16 keys. `session_id` names the session; `onBusy` says what happens while the agent is busy.',
      ),
      user: member(
        v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
        'The end user for whom the run works.',
      ),
      tools: member(OpenaiTools, 'The functions that the client executes, which the agent gets as `tools`.'),
    },
    v.unknown(),
  ),
  'A request in the form of Chat Completions. Sampling parameters reach the agent as `settings`.',
  { model: 'mail', messages: [{ role: 'user', content: 'What is on my calendar?' }] },
)

export const OpenaiInputItem = documented(
  v.objectWithRest(
    {
      type: member(v.nullish(v.string()), 'What the item is; `message` if missing.'),
      role: member(v.nullish(v.string()), 'Author of a message.'),
      content: member(v.optional(v.unknown()), 'Text of a message, or an array of parts.'),
      approval_request_id: member(v.nullish(v.string()), 'The approval request that the item answers.'),
      approve: member(v.nullish(v.boolean()), 'Whether the request is approved.'),
      reason: member(v.nullish(v.string()), 'Reason of the decision.'),
      call_id: member(v.nullish(v.string()), 'The function call that the item answers.'),
      output: member(v.optional(v.unknown()), 'Output of the function call.'),
    },
    v.unknown(),
  ),
  'An item of the input of a Response.',
  { type: 'mcp_approval_response', approval_request_id: 'mcpr_apr_1', approve: true },
)

export const OpenaiResponseRequest = documented(
  v.objectWithRest(
    {
      model: member(Model, 'The id of an agent, or `workflow:` and the id of a workflow.'),
      input: member(
        v.union([v.pipe(v.string(), v.minLength(1)), v.pipe(v.array(OpenaiInputItem), v.minLength(1))]),
        'A text, or a list of messages and answers.',
      ),
      instructions: member(v.optional(v.unknown()), 'Text for the agent, which it gets as `context`.'),
      stream: member(v.nullish(v.boolean()), 'Whether the events are streamed.'),
      background: member(v.nullish(v.boolean()), 'Whether the server answers before the run has ended.'),
      store: member(
        v.nullish(v.boolean()),
        'The server records every run. False is accepted only outside a conversation and without `background`.',
      ),
      previous_response_id: member(v.nullish(Name), 'The response that this one continues.'),
      conversation: member(
        v.nullish(v.union([Name, OpenaiConversationRef])),
        'Id of the conversation: of a session, or one that the client chooses.',
      ),
      metadata: member(
        v.nullish(SentMetadata),
        'Metadata of the run, at most 16 keys; `onBusy` says what happens while the agent is busy.',
      ),
      user: member(
        v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
        'The end user for whom the run works.',
      ),
      tools: member(OpenaiTools, 'The functions that the client executes, which the agent gets as `tools`.'),
    },
    v.unknown(),
  ),
  'A request in the form of Responses.',
  { model: 'mail', input: 'What is on my calendar?' },
)

/** What a client of OpenAI asks for besides the response. Without a meaning here. */
const Include = { 'include[]': v.optional(v.string()) }

const SequenceNumber = v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'must be the number of an event'), v.transform(Number))

export const OpenaiResponseQuery = v.strictObject({
  stream: v.optional(v.picklist(['true', 'false'])),
  starting_after: v.optional(SequenceNumber),
  include_obfuscation: v.optional(v.string()),
  ...Include,
})

const ListQuery = {
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/, 'must be a number from 1 to 100'),
      v.transform(Number),
      v.minValue(1),
      v.maxValue(100),
    ),
  ),
  order: v.optional(v.picklist(['asc', 'desc'])),
  after: v.optional(v.string()),
}

export const OpenaiItemsQuery = v.strictObject({ ...ListQuery, ...Include })

export const OpenaiConversationRequest = documented(
  v.objectWithRest(
    {
      metadata: member(v.nullish(SentMetadata), 'Metadata of the session, at most 16 keys.'),
      items: member(v.nullish(v.array(v.unknown())), 'Must be empty: a conversation begins with its first response.'),
    },
    v.unknown(),
  ),
  'A request to create or change a Conversation.',
  { metadata: { topic: 'travel' } },
)

export const OpenaiObject = documented(
  v.objectWithRest(
    { object: member(v.string(), 'Kind of the object, such as `response` or `chat.completion`.') },
    v.unknown(),
  ),
  'An object in the form of OpenAI. Its other members depend on its kind.',
  { object: 'model', id: 'mail', created: 0, owned_by: 'perdure' },
)
