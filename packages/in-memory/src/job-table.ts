import type { JobPhase, JobQueue, JobRecord } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import type { SessionBelongings } from './session-deletion.ts'
import type { UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

const IDLE = { lease: undefined, runAgain: false, error: undefined, attempts: 0 } as const

export function createJobTable(): Table<JobQueue, WritesOf<'job'>> & SessionBelongings {
  const jobs = createRecordTable<JobRecord>()
  const alive = (matches: (job: JobRecord) => boolean) =>
    jobs.all().filter((job) => job.failedAt === undefined && matches(job))
  const ofPhases = (phases: readonly JobPhase[]) =>
    [...alive(({ phase }) => phases.includes(phase))].sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
  const held = (id: string, lease: string): JobRecord | undefined => {
    const job = jobs.get(id)
    return job?.lease === lease && job.failedAt === undefined ? job : undefined
  }
  const set = (job: JobRecord, undo: UndoLog): 1 => {
    jobs.put(Object.freeze(job), undo)
    return 1
  }
  /** Makes claimed jobs with this key run again after their completion; returns the number of jobs. */
  const markAgain = (key: string, undo: UndoLog): number => {
    const taken = alive((job) => job.key === key && job.lease !== undefined)
    for (const job of taken) set({ ...job, runAgain: true }, undo)
    return taken.length
  }

  return {
    store: {
      find: async (id) => jobs.get(id),
      findLive: async (key) => alive((job) => job.key === key)[0],
      due: async (phases, now, limit) =>
        ofPhases(phases)
          .filter(({ dueAt }) => dueAt <= now)
          .slice(0, limit),
      nextDueAt: async (phases) => ofPhases(phases)[0]?.dueAt,
      deadLetters: async (page) => jobs.page(page, ({ failedAt }) => failedAt !== undefined),
      async counts() {
        const living = alive(() => true)
        const countOf = (phase: JobPhase) => living.filter((job) => job.phase === phase).length
        const deadLetters = jobs.all().filter(({ failedAt }) => failedAt !== undefined).length
        return { extract: countOf('extract'), merge: countOf('merge'), decay: countOf('decay'), deadLetters }
      },
    },
    removeSession(sessionId, undo) {
      for (const job of [...jobs.all()]) if (job.sessionId === sessionId) jobs.delete(job.id, undo)
    },
    appliers: {
      'job.enqueue'({ job }, { undo }) {
        if (alive(({ key }) => key === job.key).length > 0) return markAgain(job.key, undo)
        return set({ ...job, ...IDLE }, undo)
      },
      'job.claim'({ type, id, lease, now, until }, { undo }) {
        const current = jobs.get(id)
        if (current === undefined || current.failedAt !== undefined || current.dueAt > now) return { type, current }
        return set({ ...current, lease, dueAt: until, attempts: current.attempts + 1 }, undo)
      },
      'job.complete'({ type, id, lease, now, runAgain }, { undo }) {
        const current = held(id, lease)
        if (current === undefined) return { type, current: jobs.get(id) }
        if (runAgain || current.runAgain) return set({ ...current, ...IDLE, dueAt: now }, undo)
        jobs.delete(id, undo)
        return 1
      },
      'job.fail'({ type, id, lease, now, attempts, error, dueAt }, { undo }) {
        const current = held(id, lease)
        if (current === undefined) return { type, current: jobs.get(id) }
        const failed = { ...current, lease: undefined, attempts, error }
        return set(dueAt === undefined ? { ...failed, runAgain: false, failedAt: now } : { ...failed, dueAt }, undo)
      },
      'job.retry'({ type, id, now }, { undo }) {
        const current = jobs.get(id)
        if (current?.failedAt === undefined) return { type, current }
        if (alive(({ key }) => key === current.key).length === 0) {
          return set({ ...current, ...IDLE, failedAt: undefined, dueAt: now }, undo)
        }
        markAgain(current.key, undo)
        jobs.delete(id, undo)
        return 1
      },
    },
  }
}
