import * as v from 'valibot'
import { SentMetadata } from './runs.ts'

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

/** An agent, or `workflow:` and the id of a workflow. */
const Model = v.pipe(v.string(), v.minLength(1), v.maxLength(256))

/** A message of a chat. Its content is a text or a list of parts. */
export const OpenaiMessage = v.objectWithRest(
  {
    role: v.picklist(['system', 'developer', 'user', 'assistant', 'tool']),
    content: v.optional(v.unknown()),
    tool_call_id: v.nullish(v.string()),
    tool_calls: v.optional(v.unknown()),
    name: v.optional(v.unknown()),
  },
  v.unknown(),
)

/** A tool. Only functions, which the client executes, are supported. */
export const OpenaiTool = v.objectWithRest({ type: v.string() }, v.unknown())

const OpenaiTools = v.nullish(v.pipe(v.array(OpenaiTool), v.maxLength(128)))

export const OpenaiStreamOptions = v.objectWithRest({ include_usage: v.nullish(v.boolean()) }, v.unknown())

/** A conversation by its id. */
export const OpenaiConversationRef = v.objectWithRest({ id: Name }, v.unknown())

export const ChatCompletionRequest = v.objectWithRest(
  {
    model: Model,
    messages: v.pipe(v.array(OpenaiMessage), v.minLength(1, 'must have at least one message')),
    stream: v.nullish(v.boolean()),
    stream_options: v.nullish(OpenaiStreamOptions),
    metadata: v.nullish(SentMetadata),
    user: v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
    tools: OpenaiTools,
  },
  v.unknown(),
)

/** An item of the input of a response: a message, or the answer to something that an earlier response asked. */
export const OpenaiInputItem = v.objectWithRest(
  {
    type: v.nullish(v.string()),
    role: v.nullish(v.string()),
    content: v.optional(v.unknown()),
    approval_request_id: v.nullish(v.string()),
    approve: v.nullish(v.boolean()),
    reason: v.nullish(v.string()),
    call_id: v.nullish(v.string()),
    output: v.optional(v.unknown()),
  },
  v.unknown(),
)

export const OpenaiResponseRequest = v.objectWithRest(
  {
    model: Model,
    input: v.union([v.pipe(v.string(), v.minLength(1)), v.pipe(v.array(OpenaiInputItem), v.minLength(1))]),
    instructions: v.optional(v.unknown()),
    stream: v.nullish(v.boolean()),
    background: v.nullish(v.boolean()),
    store: v.nullish(v.boolean()),
    previous_response_id: v.nullish(Name),
    conversation: v.nullish(v.union([Name, OpenaiConversationRef])),
    metadata: v.nullish(SentMetadata),
    user: v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
    tools: OpenaiTools,
  },
  v.unknown(),
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

export const OpenaiConversationRequest = v.objectWithRest(
  { metadata: v.nullish(SentMetadata), items: v.nullish(v.array(v.unknown())) },
  v.unknown(),
)

/** An object as OpenAI describes it. Its other members depend on `object`. */
export const OpenaiObject = v.objectWithRest({ object: v.string() }, v.unknown())
