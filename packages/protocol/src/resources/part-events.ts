import * as v from 'valibot'
import { JsonPatchOperation } from '../json-patch.ts'

/** A part of a message: text, a file, or data of the application. */
const ChatPart = v.union([
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({
    type: v.literal('file'),
    mediaType: v.string(),
    url: v.optional(v.string()),
    data: v.optional(v.string()),
    name: v.optional(v.string()),
  }),
  v.looseObject({ type: v.literal('data'), data: v.unknown() }),
])

export const CHAT_ROLES = ['user', 'assistant', 'system', 'tool'] as const
export type ChatRole = (typeof CHAT_ROLES)[number]

const ChatMessage = v.looseObject({
  id: v.optional(v.string()),
  role: v.picklist(CHAT_ROLES),
  content: v.array(ChatPart),
})

export const StateEvent = v.looseObject({ state: v.unknown() })
export const StateDeltaEvent = v.looseObject({ patch: v.array(JsonPatchOperation) })
export const SourceEvent = v.looseObject({
  sourceId: v.string(),
  url: v.optional(v.string()),
  title: v.optional(v.string()),
  mediaType: v.optional(v.string()),
  filename: v.optional(v.string()),
})
export const FileEvent = v.looseObject({
  fileId: v.string(),
  mediaType: v.string(),
  url: v.optional(v.string()),
  data: v.optional(v.string()),
  name: v.optional(v.string()),
})
export const WholeMessageEvent = v.looseObject({ message: ChatMessage })
export const DataEvent = v.looseObject({
  name: v.string(),
  data: v.unknown(),
  id: v.optional(v.string()),
  transient: v.optional(v.boolean()),
})
