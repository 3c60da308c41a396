import {
  type Digest,
  type EpochMs,
  type FactRecord,
  type FactStore,
  perdureError,
  type Visibility,
  type Write,
} from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'
import {
  type ConflictDetectionDeps,
  conflictWrites,
  conflictWritesOfDeletion,
  type SameCommit,
} from './detect-conflicts.ts'
import { factEvent } from './memory-events.ts'
import { fingerprintOf } from './text-similarity.ts'

export interface FactDecisionsDeps extends ConflictDetectionDeps {
  readonly facts: FactStore
  readonly digest: Pick<Digest, 'sha256'>
  readonly maxFactBytes: number
}

/** The members of a new fact. */
export interface FactInput {
  readonly text: string
  readonly namespace?: string | undefined // default: `default`
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly importance?: number | undefined // default: 0.5
  readonly expiresAt?: string | EpochMs | undefined // ISO-8601 or epoch milliseconds, in the future
}

/** An omitted member stays unchanged; `expiresAt: null` removes the expiry. */
export type FactChange = Partial<Omit<FactInput, 'expiresAt'>> & {
  readonly expiresAt?: string | EpochMs | null | undefined
}

export interface FactOrigin {
  readonly owner: string
  readonly runId?: string | undefined
  readonly sessionId?: string | undefined
  readonly sameCommit?: SameCommit | undefined
}

/** A fact after a change, and the writes of that change, including the events, to be committed together. */
export interface FactDecision {
  readonly fact: FactRecord
  readonly writes: readonly Write[]
}

export const DEFAULT_NAMESPACE = 'default'
const DEFAULT_IMPORTANCE = 0.5

/** @throws PerdureError `validation-failed` */
export async function decideNewFact(
  deps: FactDecisionsDeps,
  input: FactInput,
  { owner, runId, sessionId, sameCommit }: FactOrigin,
): Promise<FactDecision> {
  const now = deps.clock.now()
  checkText(deps, input.text)
  const fact: FactRecord = {
    id: deps.ids.newId('memory'),
    namespace: input.namespace ?? DEFAULT_NAMESPACE,
    owner,
    text: input.text,
    tags: [...new Set(input.tags)],
    metadata: input.metadata ?? {},
    importance: input.importance ?? DEFAULT_IMPORTANCE,
    weighedAt: now,
    fingerprint: fingerprintOf(input.text, deps.digest),
    sourceRunId: runId,
    sourceSessionId: sessionId,
    createdAt: now,
    updatedAt: now,
    expiresAt: expiryOf(input.expiresAt, now),
    revision: 1,
  }
  const writes: Write[] = [{ type: 'fact.insert', fact }, factEvent('memory.fact.written', fact, now)]
  return { fact, writes: [...writes, ...(await conflictWrites(deps, fact, sameCommit))] }
}

/** @throws PerdureError `validation-failed` */
export async function decideFactChange(
  deps: FactDecisionsDeps,
  fact: FactRecord,
  { sameCommit, ...change }: FactChange & { readonly sameCommit?: SameCommit },
): Promise<FactDecision> {
  const now = deps.clock.now()
  const { text = fact.text, tags = fact.tags, importance = fact.importance, expiresAt, ...rest } = change
  if (text !== fact.text) checkText(deps, text)
  const next: FactRecord = {
    ...fact,
    namespace: rest.namespace ?? fact.namespace,
    metadata: rest.metadata ?? fact.metadata,
    text,
    tags: [...new Set(tags)],
    importance,
    weighedAt: change.importance === undefined ? fact.weighedAt : now,
    fingerprint: text === fact.text ? fact.fingerprint : fingerprintOf(text, deps.digest),
    expiresAt: expiresAt === undefined ? fact.expiresAt : expiryOf(expiresAt ?? undefined, now),
    updatedAt: now,
    revision: fact.revision + 1,
  }
  const needsDetection = next.text !== fact.text || next.namespace !== fact.namespace
  const writes: Write[] = [{ type: 'fact.replace', fact: next }, factEvent('memory.fact.written', next, now)]
  return {
    fact: next,
    writes: needsDetection ? [...writes, ...(await conflictWrites(deps, next, sameCommit))] : writes,
  }
}

/** The writes that delete a fact. */
export async function decideFactDeletion(
  deps: ConflictDetectionDeps,
  fact: FactRecord,
  sameCommit: SameCommit = {},
): Promise<readonly Write[]> {
  return [
    { type: 'fact.delete', id: fact.id, revision: fact.revision },
    factEvent('memory.fact.deleted', fact, deps.clock.now()),
    ...(await conflictWritesOfDeletion(deps, fact, sameCommit)),
  ]
}

/** @throws PerdureError `memory-fact-not-found` if the fact does not exist, is not visible or has expired */
export async function requireFact(
  { facts, clock }: Pick<FactDecisionsDeps, 'facts' | 'clock'>,
  id: string,
  visibility: Visibility,
): Promise<FactRecord> {
  const fact = await facts.find(id, { now: clock.now(), visibility })
  if (fact === undefined) throw perdureError('memory-fact-not-found')
  return fact
}

function checkText({ maxFactBytes }: FactDecisionsDeps, text: string): void {
  if (text.trim() === '') {
    throw perdureError('validation-failed', {
      message: 'text: is empty',
      hint: 'set text to the statement to remember',
    })
  }
  if (!isLongerThan(text, maxFactBytes)) return
  throw perdureError('validation-failed', {
    message: `text: is longer than ${maxFactBytes} bytes`,
    hint: 'split the text into several facts, or raise memory.maxFactBytes',
  })
}

function expiryOf(expiresAt: string | EpochMs | undefined, now: EpochMs): EpochMs | undefined {
  if (expiresAt === undefined) return undefined
  const at = typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt
  if (Number.isSafeInteger(at) && at > now) return at as EpochMs
  throw perdureError('validation-failed', {
    message: 'expiresAt: must be an instant in the future',
    hint: 'use an ISO-8601 instant such as 2030-01-01T00:00:00.000Z',
  })
}
