import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { Metadata, SentMetadata } from './runs.ts'

const Title = v.pipe(v.string(), v.maxLength(512))
const UserId = v.pipe(v.string(), v.minLength(1), v.maxLength(128))

export const Session = v.object({
  id: v.string(),
  owner: v.string(),
  title: v.optional(v.string()),
  userId: v.optional(v.string()),
  agentId: v.optional(v.string()),
  metadata: Metadata,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const CreateSessionRequest = strictObject({
  id: v.optional(OperatorId),
  title: v.optional(Title),
  userId: v.optional(UserId),
  agentId: v.optional(OperatorId),
  metadata: v.optional(SentMetadata),
})

/** A missing member stays unchanged. */
export const UpdateSessionRequest = strictObject({ title: v.optional(Title), metadata: v.optional(SentMetadata) })

export const MessageRole = v.picklist(['user', 'assistant'])

export const Message = v.object({
  id: v.string(),
  seq: Count,
  role: MessageRole,
  content: v.unknown(),
  runId: v.optional(v.string()),
  createdAt: Timestamp,
})
