import {
  Block,
  CreateFactRequest,
  Fact,
  FactSource,
  MemoryConflict,
  PutBlockRequest,
  ResolveConflictRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
  UpdateFactRequest,
} from '../resources/memory.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

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

const CREATE_MEMBERS = {
  text: 'The statement, at least 1 character.',
  namespace: 'Namespace of the fact. Default: `default`.',
  tags: 'At most 64 tags of 1 to 128 characters.',
  metadata: 'Labels of the fact: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
  importance: 'Importance from 0 to 1. A higher value moves the fact up in search results. Default: 0.5.',
  expiresAt: 'When the fact becomes invisible. Default: never.',
}

const NAMESPACE = 'Namespace of the fact.'
const OWNER = 'Subject that the memory belongs to.'

export const memorySchemas = {
  FactSource: namedObject(FactSource, {
    description: 'Where a fact comes from.',
    members: {
      runId: 'Id of the run that wrote the fact. Absent when no run did.',
      sessionId: 'Id of the session of that run. Absent when it had none.',
    },
    example: { runId: RUN_ID },
  }),
  Fact: namedObject(Fact, {
    description: 'One statement in memory, found by search.',
    members: {
      id: 'Id of the fact, `mem_…`.',
      namespace: NAMESPACE,
      owner: OWNER,
      text: 'The statement.',
      tags: 'Tags of the fact; empty when it has none.',
      metadata: 'Labels of the fact; an empty object when it has none.',
      importance: 'Importance from 0 to 1.',
      source: 'Run and session that wrote the fact. Absent when a request wrote it.',
      createdAt: 'When the fact was written.',
      updatedAt: 'When the fact last changed.',
      expiresAt: 'When the fact becomes invisible. Absent when it never expires.',
    },
    example: fact,
  }),
  CreateFactRequest: namedObject(CreateFactRequest, {
    description: 'Writes a fact.',
    members: CREATE_MEMBERS,
    example: { text: 'mia arrives on Friday at six', tags: ['mia'], importance: 0.8 },
  }),
  UpdateFactRequest: namedObject(UpdateFactRequest, {
    description: 'Changes a fact. An absent member stays unchanged.',
    members: {
      ...CREATE_MEMBERS,
      namespace: NAMESPACE,
      importance: 'Importance from 0 to 1.',
      expiresAt: 'When the fact becomes invisible; null removes the expiry.',
    },
    example: { importance: 1, expiresAt: null },
  }),
  SearchRequest: namedObject(SearchRequest, {
    description: 'Searches memory for facts.',
    members: {
      query: 'Words to search for, 1 to 4,096 characters.',
      namespace: 'Search only this namespace. Default: all namespaces.',
      tags: 'Return only facts with all of these tags, at most 64.',
      limit: 'Maximum number of facts to return, from 1 to 200. Default: 10.',
    },
    example: { query: 'when does mia arrive', limit: 3 },
  }),
  SearchHit: namedObject(SearchHit, {
    description: 'A fact that a search found.',
    members: {
      fact: 'Fact that matches the query.',
      score: 'Rank of the fact: higher is better. Comparable only within one response.',
    },
    example: { fact, score: 0.72 },
  }),
  SearchResult: namedObject(SearchResult, {
    description: 'The facts that a search found.',
    members: { items: 'Facts with their scores, best first.' },
    example: { items: [{ fact, score: 0.72 }] },
  }),
  Block: namedObject(Block, {
    description: 'A named piece of text in memory that is read as a whole.',
    members: {
      namespace: 'Namespace of the block.',
      owner: OWNER,
      label: 'Name of the block.',
      value: 'Text of the block.',
      limit: 'Maximum length of the text in characters.',
      createdAt: 'When the block was first written.',
      updatedAt: 'When the block last changed.',
    },
    example: {
      namespace: 'default',
      owner: 'svc-web',
      label: 'persona',
      value: 'Warm and brief.',
      limit: 2_000,
      createdAt: '2026-03-02T09:00:00.000Z',
      updatedAt: '2026-03-02T09:00:00.000Z',
    },
  }),
  PutBlockRequest: namedObject(PutBlockRequest, {
    description: 'Writes a memory block.',
    members: {
      value: 'Text of the block, at most `limit` characters.',
      namespace: 'Namespace of the block. Default: `default`.',
      limit:
        'Maximum length of the text in characters, at least 1. Default: unchanged, or the configured limit for a new block.',
    },
    example: { value: 'Warm and brief.' },
  }),
  MemoryConflict: namedObject(MemoryConflict, {
    description: 'Near-duplicate facts that disagree.',
    members: {
      id: 'Id of the conflict, `cfl_…`.',
      namespace: 'Namespace of the facts.',
      owner: OWNER,
      status: 'Whether the conflict still needs a decision.',
      facts: 'The facts. Deleted facts are left out.',
      createdAt: 'When the conflict was found.',
      resolvedAt: 'When the conflict was resolved. Absent while it is open.',
      by: 'Subject that resolved the conflict. Absent while it is open.',
      reason: 'Reason for the resolution. Absent when none was given.',
    },
    example: {
      id: 'cfl_01k5x3v8qk7m2n9b4c6d8f0g1h',
      namespace: 'default',
      owner: 'svc-web',
      status: 'open',
      facts: [fact, { ...fact, id: 'mem_01k5x3v8qk7m2n9b4c6d8f0g1j', text: 'mia likes a room above the street' }],
      createdAt: '2026-03-02T09:20:00.000Z',
    },
  }),
  ResolveConflictRequest: namedObject(ResolveConflictRequest, {
    description: 'Resolves a conflict between facts.',
    members: {
      keep: 'Ids of the facts to keep, 1 or 2. Other facts of the conflict are deleted.',
      text: 'Text that replaces the text of the kept fact, at least 1 character.',
      reason: 'Reason for the resolution, at most 512 characters.',
    },
    example: { keep: ['mem_01k5x3v8qk7m2n9b4c6d8f0g1h'], reason: 'newer' },
  }),
} as const satisfies NamedSchemas
