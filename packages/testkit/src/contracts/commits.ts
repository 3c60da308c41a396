import {
  type ApprovalRecord,
  type CommitOutcome,
  EVERY_ROW,
  type Page,
  type PageQuery,
  type RunRecord,
  type StepRecord,
  type Storage,
  type Write,
} from '@perdure/ports'
import { expect } from 'vitest'

export type Committed = Extract<CommitOutcome, { readonly committed: true }>
export type Refused = Extract<CommitOutcome, { readonly committed: false }>

/** Commits writes that must not conflict. */
export async function commit(storage: Storage, ...writes: readonly Write[]): Promise<Committed> {
  const outcome = await storage.unitOfWork.commit(writes)
  if (outcome.committed) return outcome
  throw new Error(`write ${outcome.index} conflicts unexpectedly: ${JSON.stringify(outcome.conflict)}`)
}

/** Commits writes, one of which must conflict. */
export async function refused(storage: Storage, ...writes: readonly Write[]): Promise<Refused> {
  const outcome = await storage.unitOfWork.commit(writes)
  if (!outcome.committed) return outcome
  throw new Error(`the commit succeeded although one of its writes must conflict: ${JSON.stringify(writes)}`)
}

/** Inserts runs in order, each in its own commit. */
export async function insertRuns(storage: Storage, ...runs: readonly RunRecord[]): Promise<void> {
  for (const run of runs) await commit(storage, { type: 'run.insert', run })
}

/** Inserts calls in order, each in its own commit. */
export async function insertSteps(storage: Storage, ...steps: readonly StepRecord[]): Promise<void> {
  for (const step of steps) await commit(storage, { type: 'step.insert', step })
}

/** Inserts approvals in order, each in its own commit. */
export async function insertApprovals(storage: Storage, ...approvals: readonly ApprovalRecord[]): Promise<void> {
  for (const approval of approvals) await commit(storage, { type: 'approval.insert', approval })
}

export const findRun = (storage: Storage, id: string): Promise<RunRecord | undefined> =>
  storage.runs.find(id, EVERY_ROW)

/** Follows the cursors of a list to its end, and returns its items. */
export const walk = async <T>(
  list: (page: PageQuery) => Promise<Page<T>>,
  query: Pick<PageQuery, 'limit' | 'order'>,
): Promise<readonly T[]> => (await pagesOf(list, query)).flat()

/** Follows the cursors of a list to its end, and returns its pages. */
export async function pagesOf<T>(
  list: (page: PageQuery) => Promise<Page<T>>,
  query: Pick<PageQuery, 'limit' | 'order'>,
): Promise<readonly (readonly T[])[]> {
  const pages: (readonly T[])[] = []
  let cursor: string | undefined
  do {
    const page = await list({ ...query, cursor })
    if (page.items.length > query.limit)
      throw new Error(`a page of ${page.items.length} exceeds the limit ${query.limit}`)
    if (page.items.length === 0 && page.nextCursor !== null) throw new Error('a page before the last one is empty')
    pages.push(page.items)
    cursor = page.nextCursor ?? undefined
    if (pages.length > 10_000) throw new Error('the cursors form a cycle')
  } while (cursor !== undefined)
  return pages
}

/** The ids of a whole list, oldest first. */
export async function idsOf(
  list: (page: PageQuery) => Promise<Page<{ readonly id: string }>>,
): Promise<readonly string[]> {
  return (await walk(list, { limit: 200, order: 'asc' })).map(({ id }) => id)
}

const ROUNDS = 8

/** Expects one of several concurrent insertions to succeed whenever the limit is one above the number of rows. */
export async function fillOneByOne(insert: (id: string, max: number) => Promise<CommitOutcome>): Promise<void> {
  for (let max = 1; max <= ROUNDS; max++) {
    const outcomes = await Promise.all([...'abcd'].map((name) => insert(`${name}-${max}`, max)))
    expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
  }
}
