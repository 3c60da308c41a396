import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { Metadata } from './runs.ts'

const FactText = v.pipe(v.string(), v.minLength(1))
export const Tag = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const Tags = v.pipe(v.array(Tag), v.maxLength(64))
const Importance = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

export const FactSource = v.object({ runId: v.optional(v.string()), sessionId: v.optional(v.string()) })

export const Fact = v.object({
  id: v.string(),
  namespace: v.string(),
  owner: v.string(),
  text: v.string(),
  tags: v.array(v.string()),
  metadata: Metadata,
  importance: v.number(),
  source: v.optional(FactSource),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  expiresAt: v.optional(Timestamp),
})

export const CreateFactRequest = strictObject({
  text: FactText,
  namespace: v.optional(OperatorId),
  tags: v.optional(Tags),
  metadata: v.optional(Metadata),
  importance: v.optional(Importance),
  expiresAt: v.optional(Timestamp),
})

/** A missing member stays unchanged; `expiresAt: null` removes the expiry. */
export const UpdateFactRequest = strictObject({
  ...v.partial(CreateFactRequest).entries,
  expiresAt: v.optional(v.nullable(Timestamp)),
})

export const SearchRequest = strictObject({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)),
  namespace: v.optional(OperatorId),
  tags: v.optional(Tags),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200))),
})

export const SearchHit = v.object({ fact: Fact, score: v.number() })
export const SearchResult = v.object({ items: v.array(SearchHit) })

export const Block = v.object({
  namespace: v.string(),
  owner: v.string(),
  label: v.string(),
  value: v.string(),
  limit: Count,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const PutBlockRequest = strictObject({
  value: v.string(),
  namespace: v.optional(OperatorId),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))),
})

/** Near-duplicate facts that disagree. `facts` leaves out deleted facts. */
export const MemoryConflict = v.object({
  id: v.string(),
  namespace: v.string(),
  owner: v.string(),
  status: v.picklist(['open', 'resolved']),
  facts: v.array(Fact),
  createdAt: Timestamp,
  resolvedAt: v.optional(Timestamp),
  by: v.optional(v.string()),
  reason: v.optional(v.string()),
})

/** `keep` lists the facts to keep; other facts are deleted. `text` replaces the text of the kept fact. */
export const ResolveConflictRequest = strictObject({
  keep: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2)),
  text: v.optional(FactText),
  reason: v.optional(v.pipe(v.string(), v.maxLength(512))),
})
