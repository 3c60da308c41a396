import type { JobPhase, JobRecord, NewJob, Storage, Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aJob } from '../memory-builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const PHASES: readonly JobPhase[] = ['extract', 'merge', 'decay']
const ERROR = { kind: 'transient', message: 'no answer "ü"' }

const enqueue = (storage: Storage, ...jobs: readonly Partial<NewJob>[]) =>
  commit(storage, ...jobs.map((job) => ({ type: 'job.enqueue', job: aJob(job) }) as const))

/** Claims the job at its due time with the lease `lease` for 100 ms. */
const claim = (over: Partial<Extract<Write, { type: 'job.claim' }>> = {}) =>
  ({ type: 'job.claim', id: aJob().id, lease: 'lease', now: at(0), until: at(100), ...over }) as const
const complete = (over: Partial<Extract<Write, { type: 'job.complete' }>> = {}) =>
  ({ type: 'job.complete', id: aJob().id, lease: 'lease', now: at(50), runAgain: false, ...over }) as const
const fail = (over: Partial<Extract<Write, { type: 'job.fail' }>> = {}) =>
  ({ type: 'job.fail', id: aJob().id, lease: 'lease', now: at(50), attempts: 1, error: ERROR, ...over }) as const

const queued = (over: Partial<JobRecord> = {}): JobRecord => ({ ...aJob(), attempts: 0, runAgain: false, ...over })
const find = (storage: Storage, id = aJob().id) => storage.jobs.find(id)

const bury = async (storage: Storage, job: Partial<NewJob> = {}, message = ERROR.message) => {
  await enqueue(storage, job)
  const { id } = aJob(job)
  await commit(
    storage,
    claim({ id, now: at(9_000), until: at(9_000) }),
    fail({ id, attempts: 5, error: { ...ERROR, message } }),
  )
}

const enqueueCases: readonly ContractCase[] = [
  {
    title: 'queues a job with and without its optional fields',
    async run(storage) {
      const bare = { id: 'bare', phase: 'decay', owner: undefined } as const
      const whole = { id: 'whole', phase: 'extract', owner: 'bob', sessionId: 'ses-1', dueAt: at(5) } as const
      await enqueue(storage, bare, whole)

      expect(await find(storage, 'bare')).toEqual({ ...queued(), ...aJob(bare) })
      expect(await find(storage, 'whole')).toEqual({ ...queued(), ...aJob(whole) })
      expect(await find(storage, 'unknown')).toBeUndefined()
      expect(await storage.jobs.counts()).toEqual({ extract: 1, merge: 0, decay: 1, deadLetters: 0 })
    },
  },
  {
    title: 'queues one job per key when many callers enqueue it at once',
    async run(storage) {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => enqueue(storage, { id: `job-${index}`, key: 'same' })),
      )

      expect(outcomes.filter(({ counts }) => counts[0] === 1)).toHaveLength(1)
      expect(await storage.jobs.counts()).toMatchObject({ merge: 1 })
    },
  },
  {
    title: 'runs a job again if it was enqueued while it was claimed',
    async run(storage) {
      await enqueue(storage, {})
      await commit(storage, claim())
      await enqueue(storage, { id: 'second', key: aJob().key })

      expect(await find(storage)).toMatchObject({ runAgain: true, lease: 'lease' })
      await commit(storage, complete())
      expect(await find(storage)).toEqual(queued({ dueAt: at(50) }))
      await commit(storage, claim({ now: at(50) }), complete())
      expect(await find(storage)).toBeUndefined()
      expect(await find(storage, 'second')).toBeUndefined()
    },
  },
]

const leaseCases: readonly ContractCase[] = [
  {
    title: 'lists the due jobs of the given phases, earliest first',
    async run(storage) {
      await enqueue(
        storage,
        { id: 'c', dueAt: at(3) },
        { id: 'b', dueAt: at(2), phase: 'decay' },
        { id: 'a', dueAt: at(1), phase: 'extract' },
        { id: 'later', dueAt: at(4) },
      )
      const due = async (phases: readonly JobPhase[], limit = 10) =>
        (await storage.jobs.due(phases, at(3), limit)).map(({ id }) => id)

      expect(await due(PHASES)).toEqual(['a', 'b', 'c'])
      expect(await due(PHASES, 1)).toEqual(['a'])
      expect(await due(['merge', 'decay'])).toEqual(['b', 'c'])
      expect(await due([])).toEqual([])
      expect(await storage.jobs.nextDueAt(PHASES)).toBe(at(1))
      expect(await storage.jobs.nextDueAt(['merge'])).toBe(at(3))
      expect(await storage.jobs.nextDueAt([])).toBeUndefined()
    },
  },
  {
    title: 'lets exactly one of many callers claim a job and none before it is due',
    async run(storage) {
      await enqueue(storage, { dueAt: at(1) })
      expect((await refused(storage, claim())).conflict).toMatchObject({ type: 'job.claim', current: { attempts: 0 } })

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit([claim({ lease: `lease-${index}`, now: at(1) })]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      expect(await find(storage)).toMatchObject({ attempts: 1, dueAt: at(100) })
      expect((await refused(storage, claim({ id: 'unknown' }))).conflict).toEqual({ type: 'job.claim' })
    },
  },
  {
    title: 'lets another worker claim a job after its lease expires and rejects writes of the first worker',
    async run(storage) {
      await enqueue(storage, {})
      await commit(storage, claim())
      expect(await storage.jobs.due(PHASES, at(99), 9)).toEqual([])
      expect(await storage.jobs.due(PHASES, at(100), 9)).toHaveLength(1)
      await commit(storage, claim({ lease: 'next', now: at(100), until: at(200) }))

      for (const late of [complete(), fail(), fail({ dueAt: at(60) }), complete({ runAgain: true })]) {
        expect((await refused(storage, late)).conflict).toMatchObject({ type: late.type, current: { lease: 'next' } })
      }
      expect(await find(storage)).toMatchObject({ attempts: 2, lease: 'next', dueAt: at(200) })
      await commit(storage, complete({ lease: 'next' }))
      expect(await find(storage)).toBeUndefined()
      expect((await refused(storage, complete({ lease: 'next' }))).conflict).toEqual({ type: 'job.complete' })
    },
  },
  {
    title: 'requeues a completed job if runAgain is set',
    async run(storage) {
      await enqueue(storage, {})
      await commit(storage, claim(), fail({ dueAt: at(1), attempts: 3 }), claim({ now: at(1) }))
      await commit(storage, complete({ runAgain: true }))

      expect(await find(storage)).toEqual(queued({ dueAt: at(50) }))
    },
  },
]

const failureCases: readonly ContractCase[] = [
  {
    title: 'retries a failed job at the given time and not before',
    async run(storage) {
      await enqueue(storage, {})
      await commit(storage, claim(), fail({ dueAt: at(70), attempts: 3 }))

      expect(await find(storage)).toEqual(queued({ attempts: 3, error: ERROR, dueAt: at(70) }))
      await refused(storage, claim({ now: at(69) }))
      await commit(storage, claim({ now: at(70), lease: 'again' }))
      expect(await find(storage)).toMatchObject({ attempts: 4, lease: 'again' })
    },
  },
  {
    title: 'never hands out a dead letter and frees its key',
    async run(storage) {
      await bury(storage)

      expect(await find(storage)).toMatchObject({ failedAt: at(50), attempts: 5, error: ERROR, runAgain: false })
      expect(await storage.jobs.due(PHASES, at(99_999), 9)).toEqual([])
      expect(await storage.jobs.nextDueAt(PHASES)).toBeUndefined()
      expect(await storage.jobs.counts()).toEqual({ extract: 0, merge: 0, decay: 0, deadLetters: 1 })
      await refused(storage, claim({ now: at(99_999) }))
      expect(await storage.jobs.findLive(aJob().key)).toBeUndefined()
      expect((await enqueue(storage, { id: 'fresh', key: aJob().key })).counts).toEqual([1])
      expect(await storage.jobs.findLive(aJob().key)).toMatchObject({ id: 'fresh' })
    },
  },
  {
    title: 'requeues a dead letter with its attempts reset',
    async run(storage) {
      await bury(storage)
      await commit(storage, { type: 'job.retry', id: aJob().id, now: at(80) })

      expect(await find(storage)).toEqual(queued({ dueAt: at(80) }))
      expect((await refused(storage, { type: 'job.retry', id: aJob().id, now: at(80) })).conflict).toMatchObject({
        type: 'job.retry',
        current: { id: aJob().id },
      })
      const unknown = { type: 'job.retry', id: 'unknown', now: at(80) } as const
      expect((await refused(storage, unknown)).conflict).toEqual({ type: 'job.retry' })
    },
  },
  {
    title: 'deletes a retried dead letter if a live job has its key',
    async run(storage) {
      await bury(storage)
      await enqueue(storage, { id: 'fresh', key: aJob().key })
      await commit(storage, claim({ id: 'fresh' }))

      await commit(storage, { type: 'job.retry', id: aJob().id, now: at(80) })

      expect(await find(storage)).toBeUndefined()
      expect(await find(storage, 'fresh')).toMatchObject({ runAgain: true })
    },
  },
]

export const jobQueueCases: readonly ContractCase[] = [
  ...enqueueCases,
  ...leaseCases,
  ...failureCases,
  ...pagedListCases({
    noun: 'dead letters',
    insert: (storage, { id, createdAt, text }) => bury(storage, { id, createdAt }, text),
    list: (storage, page) => storage.jobs.deadLetters(page),
  }),
]

/** Requirements for every `JobQueue` and for writes of jobs. */
export const jobQueueContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'JobQueue', cases: jobQueueCases }], harness)
