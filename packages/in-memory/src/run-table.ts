import {
  type Activity,
  type EpochMs,
  endFields,
  filterFields,
  type ListedRun,
  type OutlinedRun,
  RUN_CONTENT,
  type RunChange,
  type RunContent,
  type RunField,
  type RunFilter,
  type RunPageQuery,
  type RunRecord,
  type RunStore,
  type RunTimers,
  type StartRange,
  startFields,
  sumUsage,
  takeWithinPage,
  type Visibility,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { changed } from './changed.ts'
import type { LaneTable } from './lane-table.ts'
import { outlined } from './outlined.ts'
import { createRecordTable } from './record-table.ts'
import type { RetainedRuns } from './retention.ts'
import { isVisible, ofTarget } from './row-visibility.ts'
import { hasFields, isRoot, matchesFilter } from './run-filter.ts'
import type { ThreadRuns } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import { createUsageTable } from './usage-table.ts'
import type { Table, WriteOf, WritesOf } from './write-applier.ts'

type Fence = Omit<WriteOf<'run.fence'>, 'type'>

export interface RunTable
  extends Table<RunStore, Exclude<WritesOf<'run'>, 'run.emit' | 'run.prune'> | WritesOf<'usage'>>,
    ThreadRuns,
    RetainedRuns {
  /** Activity of runs that clients started, in one session or in all sessions. */
  activityOf(sessionId: string | undefined): Activity
  readonly timers: RunTimers
  ofSession(sessionId: string): readonly RunRecord[]
  has(runId: string): boolean
  isExecuting(fence: Fence): boolean
  /** Whether the session has an active run. */
  isSessionActive(sessionId: string): boolean
}

/** A run that stops running, or that is deleted, frees its slots in `lanes`. */
export function createRunTable(lanes: Pick<LaneTable, 'freeHeld'>): RunTable {
  const runs = createRecordTable<RunRecord>()
  const idsByThread = new Map<string, readonly string[]>()
  const byId = new Map<string, RunRecord>()
  /** Active runs with a deadline. */
  const limited = new Map<string, RunRecord>()
  /** Queued runs with a start time. */
  const delayed = new Map<string, RunRecord>()
  const unfollowed = new Map<string, true>()
  const fields = new Map<string, readonly RunField[]>()
  const usage = createUsageTable(runs.all)

  const isExecuting = ({ runId, attempt, execution = runs.get(runId)?.execution }: Fence): boolean => {
    const current = runs.get(runId)
    return current?.status === 'running' && current.attempt === attempt && current.execution === execution
  }

  const put = (run: RunRecord, undo: UndoLog): void => {
    runs.put(run, undo)
    putEntry(byId, [run.id, run], undo)
    putEntry(limited, [run.id, isActive(run) && run.deadlineAt !== undefined ? run : undefined], undo)
    putEntry(delayed, [run.id, run.status === 'queued' && run.startAt !== undefined ? run : undefined], undo)
  }

  const addFields = (runId: string, added: readonly RunField[], undo: UndoLog) =>
    putEntry(fields, [runId, [...(fields.get(runId) ?? []), ...added]], undo)

  const setThread = ({ threadId }: RunRecord, undo: UndoLog, change: (ids: readonly string[]) => readonly string[]) => {
    if (threadId !== undefined) putEntry(idsByThread, [threadId, change(idsByThread.get(threadId) ?? [])], undo)
  }

  const idsOfThread = (workflowId: string, threadId: string): readonly string[] =>
    (idsByThread.get(threadId) ?? []).filter((id) => {
      const run = runs.get(id)
      return run?.kind === 'workflow' && run.targetId === workflowId
    })

  const activeOfThread = (workflowId: string, threadId: string | undefined): RunRecord | undefined =>
    idsOfThread(workflowId, threadId ?? '')
      .map((id) => runs.get(id))
      .find((run) => run !== undefined && run.threadId === threadId && isActive(run))

  const lateAt = (now: EpochMs): readonly RunRecord[] =>
    Array.from(limited.values())
      .filter((run) => deadline(run) <= now)
      .sort((one, other) => deadline(one) - deadline(other))

  const startingIn = ({ after, through }: StartRange): readonly RunRecord[] =>
    Array.from(delayed.values())
      .filter((run) => start(run) > after && start(run) <= through)
      .sort((one, other) => start(one) - start(other) || (one.id < other.id ? -1 : 1))

  const matching = (filter: RunFilter, visibility: Visibility) => {
    const wanted = filterFields(filter)
    return (run: RunRecord): boolean =>
      matchesFilter(run, filter) && hasFields(fields.get(run.id) ?? [], wanted) && isVisible(ofTarget(run), visibility)
  }

  const outlinedRun = <Content extends RunContent>(run: RunRecord, content?: readonly Content[]) =>
    outlined(withContent(run, content), content ?? (RUN_CONTENT as readonly RunContent[] as readonly Content[]), () =>
      runs.get(run.id),
    ) as OutlinedRun<Content>

  return {
    store: {
      async find(id, visibility) {
        const run = runs.get(id)
        return run !== undefined && isVisible(ofTarget(run), visibility) ? run : undefined
      },
      list: async (filter, page, visibility) =>
        runs.pageOf(page, {
          matches: matching(filter, visibility),
          show: (run) => withContent(run, page.content),
        }),
      outline: async <Content extends RunContent>(
        filter: RunFilter,
        page: RunPageQuery<Content>,
        visibility: Visibility,
      ) =>
        runs.pageOf(page, {
          matches: matching(filter, visibility),
          show: (run) => outlinedRun(run, page.content),
        }),
      owners: async (limit) => Array.from(new Set(runs.all().map(({ owner }) => owner))).slice(0, limit),
      usage: async (subject, now) => usage.of(subject, now),
      needingFollowUp: async (limit) =>
        takeWithinPage(
          Array.from(unfollowed.keys()).flatMap((id) => byId.get(id) ?? []),
          limit,
        ).items,
    },
    timers: {
      pastDeadline: async (now, limit) => takeWithinPage(lateAt(now), limit).items,
      nextDeadlineAt: async () => lateAt(END_OF_TIME)[0]?.deadlineAt,
      starting: async (range, limit) => takeWithinPage(startingIn(range), limit).items,
      nextStartAt: async (after) => startingIn({ after, through: END_OF_TIME })[0]?.startAt,
    },
    isSessionActive: (sessionId) =>
      runs.page({ limit: 1, order: 'asc' }, (run) => run.sessionId === sessionId && isActive(run)).items.length > 0,
    appliers: {
      ...usage.appliers,
      'run.insert'({ type, run, labels }, { undo }) {
        const current = runs.get(run.id)
        if (current !== undefined) return { type, current }
        const { kind, threadId } = run
        const other = kind === 'workflow' && isActive(run) ? activeOfThread(run.targetId, threadId) : undefined
        if (other !== undefined) return { type, reason: 'thread', current: other }
        put(run, undo)
        addFields(run.id, [...startFields(run, labels), ...endFields(run)], undo)
        setThread(run, undo, (ids) => [...ids, run.id])
        return 1
      },
      'run.transition'({ type, runId, from, attempt, execution, startAt, change, needsFollowUp }, { undo }) {
        const current = runs.get(runId)
        if (current === undefined || current.attempt !== attempt || !from.includes(current.status)) {
          return { type, current }
        }
        if (execution !== undefined && current.execution !== execution) return { type, current }
        if (startAt !== undefined && (current.startAt ?? null) !== startAt) return { type, current }
        const next = transitioned(current, change)
        if (needsFollowUp === true) putEntry(unfollowed, [runId, true], undo)
        put(next, undo)
        if (current.status === 'running' && next.status !== 'running') lanes.freeHeld(runId, undo)
        addFields(runId, endFields(change), undo)
        return 1
      },
      'run.followed-up'({ runId }, { undo }) {
        if (!unfollowed.has(runId)) return 0
        putEntry(unfollowed, [runId, undefined], undo)
        return 1
      },
      'run.withdraw'({ sessionId, from, by }, { undo }) {
        const isTurn = (run: RunRecord) => run.sessionId === sessionId && isRoot(run)
        const first = runs.get(from)
        if (first === undefined || !isTurn(first)) return 0
        const isLater = ({ createdAt, id }: RunRecord) =>
          createdAt > first.createdAt || (createdAt === first.createdAt && id >= first.id)
        const withdrawn = runs
          .all()
          .filter((run) => isTurn(run) && isLater(run) && run.id !== by && run.withdrawnBy === undefined)
        for (const run of withdrawn) {
          put(Object.freeze({ ...run, withdrawnBy: by }), undo)
          if (isActive(run)) putEntry(unfollowed, [run.id, true], undo)
        }
        return withdrawn.length
      },
      'run.interrupt'({ runId }, { undo }) {
        const run = runs.get(runId)
        if (run === undefined || !isActive(run) || unfollowed.has(runId)) return 0
        putEntry(unfollowed, [runId, true], undo)
        return 1
      },
      'run.charge'({ runId, usage: added }, { undo }) {
        const current = runs.get(runId)
        if (current === undefined) return 0
        put({ ...current, usage: sumUsage(current.usage, added) }, undo)
        return 1
      },
      'run.fence'({ type, ...fence }) {
        return isExecuting(fence) ? 0 : { type, current: runs.get(fence.runId) }
      },
    },
    activityOf(sessionId) {
      const clientRuns = [...byId.values()].filter((run) => isClientRun(run, sessionId))
      const ends = clientRuns.flatMap(({ completedAt }) => (completedAt === undefined ? [] : [completedAt]))
      const isBusy = clientRuns.some(({ status }) => status === 'queued' || status === 'running')
      return ends.length === 0 ? { isBusy } : { isBusy, endedAt: Math.max(...ends) as EpochMs }
    },
    ofSession: (sessionId) => runs.all().filter((run) => run.sessionId === sessionId),
    isExecuting,
    has: (runId) => runs.get(runId) !== undefined,
    idsOfThread,
    activeOfThread,
    isActive(runId) {
      const run = runs.get(runId)
      return run !== undefined && isActive(run)
    },
    idsEndedBefore(before, owner) {
      const active = runs.all().filter(isActive)
      const parents = new Set(active.map(({ id }) => id))
      const threads = new Set(active.map(({ threadId }) => threadId))
      return runs
        .all()
        .filter(({ createdAt, completedAt = before }) => createdAt < before && completedAt < before)
        .filter((run) => owner === undefined || run.owner === owner)
        .filter((run) => !isActive(run) && !parents.has(run.parentRunId ?? ''))
        .filter(({ threadId }) => threadId === undefined || !threads.has(threadId))
        .map(({ id }) => id)
    },
    removeRun(runId, undo) {
      const run = runs.get(runId)
      if (run === undefined) return
      usage.keep(run, undo)
      runs.delete(runId, undo)
      lanes.freeHeld(runId, undo)
      putEntry(byId, [runId, undefined], undo)
      putEntry(limited, [runId, undefined], undo)
      putEntry(delayed, [runId, undefined], undo)
      putEntry(unfollowed, [runId, undefined], undo)
      putEntry(fields, [runId, undefined], undo)
      setThread(run, undo, (ids) => ids.filter((id) => id !== runId))
    },
  }
}

function withContent<Content extends RunContent>(
  run: RunRecord,
  content: readonly Content[] | undefined,
): ListedRun<Content> {
  if (content === undefined) return run
  const left = RUN_CONTENT.filter((name) => !content.some((wanted) => wanted === name))
  return Object.freeze({ ...run, ...Object.fromEntries(left.map((name) => [name, undefined])) })
}

const isClientRun = (run: RunRecord, sessionId: string | undefined): boolean =>
  run.triggerId === undefined &&
  run.parentRunId === undefined &&
  (sessionId === undefined || run.sessionId === sessionId)

const END_OF_TIME = Number.POSITIVE_INFINITY as EpochMs

const start = ({ startAt }: RunRecord): number => startAt ?? END_OF_TIME

const deadline = ({ deadlineAt }: RunRecord): number => deadlineAt ?? END_OF_TIME

function transitioned(run: RunRecord, change: RunChange): RunRecord {
  const next = changed(run, change)
  const { status } = change
  if (status === 'running' && run.status !== 'running') return Object.freeze({ ...next, execution: run.execution + 1 })
  return status === undefined || status === 'running' ? next : Object.freeze({ ...next, executor: change.executor })
}

const isActive = ({ status }: RunRecord): boolean => !isTerminal(status)
