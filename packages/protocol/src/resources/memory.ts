import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'
import { Metadata } from './metadata.ts'

const FactText = v.pipe(v.string(), v.minLength(1))
export const Tag = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const Tags = v.pipe(v.array(Tag), v.maxLength(64))
const Importance = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

export const FactSource = documented(
  v.object({
    runId: member(v.optional(v.string()), 'Id of the run that wrote the fact. Absent when no run did.'),
    sessionId: member(v.optional(v.string()), 'Id of the session of that run. Absent when it had none.'),
  }),
  'Where a fact comes from.',
  { runId: RUN_ID },
)

const fact = {
  id: 'mem_01k5x3v8qk7m2n9b4c6d8f0g1h',
  namespace: 'default',
  owner: 'svc-web',
  text: 'mia likes a room above the garden',
  tags: ['mia'],
  metadata: {},
  importance: 0.5,
  source: { runId: RUN_ID },
  createdAt: '2026-03-02T09:15:01.700Z',
  updatedAt: '2026-03-02T09:15:01.700Z',
}

export const Fact = documented(
  v.object({
    id: member(v.string(), 'Id of the fact, `mem_…`.'),
    namespace: member(v.string(), 'Namespace of the fact.'),
    owner: member(v.string(), 'Subject that the memory belongs to.'),
    text: member(v.string(), 'The statement.'),
    tags: member(v.array(v.string()), 'Tags of the fact; empty when it has none.'),
    metadata: member(Metadata, 'Labels of the fact; an empty object when it has none.'),
    importance: member(v.number(), 'Importance from 0 to 1.'),
    source: member(v.optional(FactSource), 'Run and session that wrote the fact. Absent when a request wrote it.'),
    createdAt: member(Timestamp, 'When the fact was written.'),
    updatedAt: member(Timestamp, 'When the fact last changed.'),
    expiresAt: member(v.optional(Timestamp), 'When the fact becomes invisible. Absent when it never expires.'),
  }),
  'One statement in memory, found by search.',
  fact,
)

export const CreateFactRequest = documented(
  strictObject({
    text: member(FactText, 'The statement, at least 1 character.'),
    namespace: member(v.optional(OperatorId), 'Namespace of the fact. Default: `default`.'),
    tags: member(v.optional(Tags), 'At most 64 tags of 1 to 128 characters.'),
    metadata: member(
      v.optional(Metadata),
      'Labels of the fact: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
    ),
    importance: member(
      v.optional(Importance),
      'Importance from 0 to 1. A higher value moves the fact up in search results. Default: 0.5.',
    ),
    expiresAt: member(v.optional(Timestamp), 'When the fact becomes invisible. Default: never.'),
  }),
  'Writes a fact.',
  { text: 'mia arrives on Friday at six', tags: ['mia'], importance: 0.8 },
)

export const UpdateFactRequest = documented(
  strictObject({
    ...CreateFactRequest.entries,
    text: member(v.optional(FactText), 'The statement, at least 1 character.'),
    namespace: member(CreateFactRequest.entries.namespace, 'Namespace of the fact.'),
    importance: member(CreateFactRequest.entries.importance, 'Importance from 0 to 1.'),
    expiresAt: member(v.optional(v.nullable(Timestamp)), 'When the fact becomes invisible; null removes the expiry.'),
  }),
  'Changes a fact. An absent member stays unchanged.',
  { importance: 1, expiresAt: null },
)

export const SearchRequest = documented(
  strictObject({
    query: member(
      v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)),
      'Words to search for, 1 to 4,096 characters.',
    ),
    namespace: member(v.optional(OperatorId), 'Search only this namespace. Default: all namespaces.'),
    tags: member(v.optional(Tags), 'Return only facts with all of these tags, at most 64.'),
    limit: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200))),
      'Maximum number of facts to return, from 1 to 200. Default: 10.',
    ),
  }),
  'Searches memory for facts.',
  { query: 'when does mia arrive', limit: 3 },
)

export const SearchHit = documented(
  v.object({
    fact: member(Fact, 'Fact that matches the query.'),
    score: member(v.number(), 'Rank of the fact: higher is better. Comparable only within one response.'),
  }),
  'A fact that a search found.',
  { fact, score: 0.72 },
)
export const SearchResult = documented(
  v.object({ items: member(v.array(SearchHit), 'Facts with their scores, best first.') }),
  'The facts that a search found.',
  { items: [{ fact, score: 0.72 }] },
)

export const Block = documented(
  v.object({
    namespace: member(v.string(), 'Namespace of the block.'),
    owner: member(v.string(), 'Subject that the memory belongs to.'),
    label: member(v.string(), 'Name of the block.'),
    value: member(v.string(), 'Text of the block.'),
    limit: member(Count, 'Maximum length of the text in characters.'),
    createdAt: member(Timestamp, 'When the block was first written.'),
    updatedAt: member(Timestamp, 'When the block last changed.'),
  }),
  'A named piece of text in memory that is read as a whole.',
  {
    namespace: 'default',
    owner: 'svc-web',
    label: 'persona',
    value: 'Warm and brief.',
    limit: 2_000,
    createdAt: '2026-03-02T09:00:00.000Z',
    updatedAt: '2026-03-02T09:00:00.000Z',
  },
)

export const PutBlockRequest = documented(
  strictObject({
    value: member(v.string(), 'Text of the block, at most `limit` characters.'),
    namespace: member(v.optional(OperatorId), 'Namespace of the block. Default: `default`.'),
    limit: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))),
      'Maximum length of the text in characters, at least 1. Default: unchanged, or the configured limit for a new block.',
    ),
    ifUpdatedAt: member(
      v.optional(v.nullable(Timestamp)),
      'Writes the block only if `updatedAt` still has this value or, with null, only if there is no such block. Default: writes it in any case.',
    ),
  }),
  'Writes a memory block.',
  { value: 'Warm and brief.' },
)

export const MemoryConflict = documented(
  v.object({
    id: member(v.string(), 'Id of the conflict, `cfl_…`.'),
    namespace: member(v.string(), 'Namespace of the facts.'),
    owner: member(v.string(), 'Subject that the memory belongs to.'),
    status: member(v.picklist(['open', 'resolved']), 'Whether the conflict still needs a decision.'),
    facts: member(v.array(Fact), 'The facts. Deleted facts are left out.'),
    createdAt: member(Timestamp, 'When the conflict was found.'),
    resolvedAt: member(v.optional(Timestamp), 'When the conflict was resolved. Absent while it is open.'),
    by: member(v.optional(v.string()), 'Subject that resolved the conflict. Absent while it is open.'),
    reason: member(v.optional(v.string()), 'Reason for the resolution. Absent when none was given.'),
  }),
  'Near-duplicate facts that disagree.',
  {
    id: 'cfl_01k5x3v8qk7m2n9b4c6d8f0g1h',
    namespace: 'default',
    owner: 'svc-web',
    status: 'open',
    facts: [fact, { ...fact, id: 'mem_01k5x3v8qk7m2n9b4c6d8f0g1j', text: 'mia likes a room above the street' }],
    createdAt: '2026-03-02T09:20:00.000Z',
  },
)

export const ResolveConflictRequest = documented(
  strictObject({
    keep: member(
      v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2)),
      'Ids of the facts to keep, 1 or 2. Other facts of the conflict are deleted.',
    ),
    text: member(v.optional(FactText), 'Text that replaces the text of the kept fact, at least 1 character.'),
    reason: member(
      v.optional(v.pipe(v.string(), v.maxLength(512))),
      'Reason for the resolution, at most 512 characters.',
    ),
  }),
  'Resolves a conflict between facts.',
  { keep: ['mem_01k5x3v8qk7m2n9b4c6d8f0g1h'], reason: 'newer' },
)
