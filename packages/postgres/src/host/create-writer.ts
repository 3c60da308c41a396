import { setTimeout as sleep } from 'node:timers/promises'
import type { CommitOutcome } from '@perdure/ports'
import { createConnection, type QueryCache } from '../connection/connection.ts'
import { codeOf, kindOf, translateError, unreachable } from '../connection/postgres-error.ts'
import type { Planning } from '../connection/session.ts'
import { commitAtOnce, fitsOneTrip } from '../groups/commit-at-once.ts'
import { commitGroup, type GroupResult } from '../groups/commit-group.ts'
import { type JobPart, planGroups } from '../groups/plan-groups.ts'
import { commitAlone } from './commit-alone.ts'
import type { WriterCounters } from './host-counters.ts'
import { type Marker, type Node, PRUNE_MARKERS } from './node.ts'
import { settleCommit } from './settle-commit.ts'
import { isUnanswered, type UnansweredCommit } from './transaction.ts'
import type { Turn } from './turn.ts'
import type { JobResult, WriteJob } from './write-job.ts'
import { createWriteSessions, type OpenSession } from './write-sessions.ts'

export interface WriterOptions {
  readonly node: Node
  readonly cache: QueryCache
  readonly open: OpenSession
  /** The newest position in the log at the start. */
  readonly knownPosition: number
  /** See `settleCommit`. */
  readonly settleMs: number
  /** Whether commits share transactions. */
  readonly groups: boolean
}

type Answer = (index: number, result: JobResult) => void

export interface Writer {
  /**
   * Commits the jobs in order, and answers each as soon as it is durable. Never rejects. `until` limits how long it
   * waits for the server.
   */
  commit(jobs: readonly WriteJob[], answer: Answer, until: number): Promise<void>
  /** Resolves when the transaction that executes now, if any, is committed or has failed. Never rejects. */
  underWay(): Promise<unknown>
  /** Whether the last attempt to reach the server succeeded. */
  isConnected(): boolean
  /** Looks no longer for a commit whose outcome cannot be found: the storage is being closed. */
  giveUp(): void
  counters(): WriterCounters
  close(): Promise<void>
}

interface Attempt {
  readonly planning: Planning
  readonly tries: number
  readonly until: number
}

const MAX_TRIES = 5
const MARKERS_KEPT = 1_000
const MAX_PAUSE_MS = 1_000

/** Executes one transaction at a time, so commits are answered in their order. */
export function createWriter({ node, cache, open, settleMs, groups, ...start }: WriterOptions): Writer {
  const sessions = createWriteSessions(async (name, planning) => {
    await node.renew()
    return open(name, planning)
  })
  const counters = { transactions: 0, unanswered: 0, retries: 0 }
  const retriesByCode: Record<string, number> = {}
  let knownPosition = start.knownPosition
  let number = 0
  let isClosing = false
  let executing: Promise<unknown> = Promise.resolve()

  const nextTurn = async (planning: Planning): Promise<Turn> => {
    const session = await sessions.get(planning)
    const db = createConnection(session.execute, cache)
    counters.transactions++
    number++
    if (number % MARKERS_KEPT === 0) {
      void db.run(PRUNE_MARKERS, { node: node.id, number: number - MARKERS_KEPT }).catch(() => undefined)
    }
    return { session, db, marker: { node: node.id, number }, knownPosition }
  }

  const persist = <T>(
    limits: Pick<Attempt, 'planning' | 'until'>,
    transaction: (turn: Turn) => Promise<T>,
  ): Promise<T> => {
    const persisting = tryUntilOver(limits, transaction)
    executing = persisting.catch(() => undefined)
    return persisting
  }

  /** Executes the transaction until it is committed, is refused or its time is over. */
  const tryUntilOver = async <T>(
    limits: Pick<Attempt, 'planning' | 'until'>,
    transaction: (turn: Turn) => Promise<T>,
  ): Promise<T> => {
    for (let tries = 1; ; tries++) {
      let turn: Turn | undefined
      try {
        turn = await nextTurn(limits.planning)
        return await transaction(turn)
      } catch (error) {
        const settled = await afterFailure<T>(error, turn?.marker, { ...limits, tries })
        if (settled !== undefined) return settled
        counters.retries++
        const code = codeOf(error)
        retriesByCode[code] = (retriesByCode[code] ?? 0) + 1
      }
    }
  }

  /** The result, if the transaction is committed after all; undefined before another attempt. */
  const afterFailure = async <T>(
    error: unknown,
    marker: Marker | undefined,
    attempt: Attempt,
  ): Promise<T | undefined> => {
    if (marker !== undefined && isUnanswered(error)) return settle(marker, error as UnansweredCommit<T>)
    await recover(error, attempt)
    return undefined
  }

  /** The result of an unanswered commit; undefined if the transaction was not committed and never will be. */
  const settle = async <T>(marker: Marker, { resultOf }: UnansweredCommit<T>): Promise<T | undefined> => {
    counters.unanswered++
    const settled = await settleCommit(marker, { sessions, cache, settleMs, isClosing: () => isClosing })
    return settled && resultOf(settled)
  }

  /** Prepares another attempt; throws if there is none. */
  const recover = async (error: unknown, { planning, tries, until }: Attempt): Promise<void> => {
    const kind = kindOf(error)
    if (kind === 'lost' || kind === 'read-only') {
      await sessions.drop()
      const pause = Math.min(50 * 2 ** (tries - 1), MAX_PAUSE_MS)
      if (performance.now() + pause > until) throw unreachable(error)
      await sleep(pause)
      return
    }
    if (kind !== 'contended' || planning === 'pinned' || tries === MAX_TRIES) throw error
    await sleep(Math.random() * 10 * tries)
  }

  const noted = (outcome: CommitOutcome): CommitOutcome => {
    if (outcome.committed) knownPosition = Math.max(knownPosition, outcome.events.at(-1)?.position ?? 0)
    return outcome
  }

  const commitOne = async ({ writes }: WriteJob, until: number): Promise<JobResult> => {
    try {
      return { outcome: noted(await persist({ planning: 'default', until }, (turn) => commitAlone(turn, writes))) }
    } catch (error) {
      return { error: translateError(error) }
    }
  }

  const commitEach = async (jobs: readonly WriteJob[], answer: Answer, until: number): Promise<void> => {
    for (const [index, job] of jobs.entries()) answer(index, await commitOne(job, until))
  }

  /** Commits the jobs as one group. Jobs that conflict are committed alone, in their place. */
  const commitTogether = async (jobs: readonly WriteJob[], answer: Answer, until: number): Promise<void> => {
    const result = await groupResult(jobs, until)
    if ('error' in result) {
      for (const index of jobs.keys()) answer(index, result)
      return
    }
    if (result.outcomes !== undefined) {
      for (const [index, outcome] of result.outcomes.entries()) answer(index, { outcome: noted(outcome) })
      return
    }
    for (const { from, to, isGroup } of around(result.alone, jobs.length)) {
      const answerPart: Answer = (index, one) => answer(from + index, one)
      await (isGroup ? commitTogether : commitEach)(jobs.slice(from, to), answerPart, until)
    }
  }

  /** A group that fails for another reason than a lost connection may succeed in part: each of its jobs goes alone. */
  const groupResult = async (
    jobs: readonly WriteJob[],
    until: number,
  ): Promise<GroupResult | { readonly error: unknown }> => {
    try {
      const [job, ...others] = jobs
      const isSentAtOnce = job !== undefined && others.length === 0 && fitsOneTrip(job.writes)
      return await persist({ planning: 'pinned', until }, (turn) =>
        isSentAtOnce ? commitAtOnce(turn, job.writes) : commitGroup(turn, jobs),
      )
    } catch (error) {
      return kindOf(error) === 'foreign' ? { error } : { alone: [...jobs.keys()] }
    }
  }

  return {
    async commit(jobs, answer, until) {
      for (const { from, to, isGroup } of groups ? planGroups(jobs) : singles(jobs)) {
        const part = jobs.slice(from, to)
        const answerPart: Answer = (index, result) => answer(from + index, result)
        await (isGroup ? commitTogether : commitEach)(part, answerPart, until)
      }
    },
    underWay: () => executing,
    isConnected: sessions.isConnected,
    giveUp() {
      isClosing = true
    },
    counters: () => ({ ...counters, retriesByCode: { ...retriesByCode } }),
    close: sessions.drop,
  }
}

const singles = (jobs: readonly WriteJob[]): readonly JobPart[] =>
  jobs.map((_, index) => ({ from: index, to: index + 1, isGroup: false }))

/** The parts of a group of which some jobs are committed alone. */
const around = (alone: readonly number[], count: number): readonly JobPart[] =>
  [...alone, count].flatMap((to, index): readonly JobPart[] => {
    const from = (alone[index - 1] ?? -1) + 1
    const group = to > from ? [{ from, to, isGroup: true }] : []
    return to < count ? [...group, { from: to, to: to + 1, isGroup: false }] : group
  })
