import { type CommitOutcome, EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from '../builders.ts'
import { commit, insertRuns, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const CALLERS = 100

const callAll = (storage: Storage, writes: (caller: number) => readonly Write[]): Promise<CommitOutcome[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => storage.unitOfWork.commit(writes(caller))))

const winnersOf = (outcomes: readonly CommitOutcome[]): number[] =>
  outcomes.flatMap(({ committed }, caller) => (committed ? [caller] : []))

/** Contested writes. Each caller also appends an event, and only the winner's event may be stored. */
const CONTESTED: readonly { readonly prize: string; readonly write: (caller: number) => Write }[] = [
  {
    prize: 'the reservation of one key',
    write: (caller) => ({
      type: 'idempotency.reserve',
      record: anIdempotencyRecord({ runId: `run-${caller}` }),
      now: at(0),
    }),
  },
  {
    prize: 'the reservation of one expired key',
    write: (caller) => ({
      type: 'idempotency.reserve',
      record: anIdempotencyRecord({ id: 'expired', runId: `run-${caller}` }),
      now: at(10),
    }),
  },
  { prize: 'the insertion of one run', write: (caller) => ({ type: 'run.insert', run: aRun({ owner: `${caller}` }) }) },
  {
    prize: 'a transition from one status',
    write: (caller) => ({
      type: 'run.transition',
      runId: 'contested',
      from: ['queued'],
      attempt: 1,
      change: { status: caller % 2 === 0 ? 'running' : 'aborted' },
    }),
  },
  {
    prize: 'a transition that raises the attempt',
    write: () => ({ type: 'run.transition', runId: 'contested', from: ['queued'], attempt: 1, change: { attempt: 2 } }),
  },
  {
    prize: 'one seq of a run',
    write: (caller) => ({ type: 'step.insert', step: aStep({ runId: 'contested', name: `${caller}` }) }),
  },
  {
    prize: 'the end of one call',
    write: (caller) => ({
      type: 'step.change',
      runId: 'contested',
      seq: 9,
      from: 'waiting',
      change: { status: caller % 2 === 0 ? 'completed' : 'failed' },
    }),
  },
  {
    prize: 'the decision of one approval',
    write: (caller) => ({
      type: 'approval.resolve',
      id: anApproval().id,
      resolution: { status: caller % 2 === 0 ? 'approved' : 'denied', by: `${caller}`, resolvedAt: at(caller) },
    }),
  },
  {
    prize: 'the insertion of one session',
    write: (caller) => ({ type: 'session.insert', session: aSession({ owner: `${caller}` }) }),
  },
  {
    prize: 'one digest of a token',
    write: (caller) => ({ type: 'token.insert', token: aToken({ id: `tok-${caller}`, digest: 'contested' }) }),
  },
]

const contestCases: readonly ContractCase[] = CONTESTED.map(({ prize, write }) => ({
  title: `lets exactly one of many concurrent callers win ${prize}`,
  async run(storage) {
    const response = { status: 200, body: '{}' }
    const expired = anIdempotencyRecord({ id: 'expired', expiresAt: at(10), response })
    await insertRuns(storage, aRun({ id: 'contested' }))
    await commit(
      storage,
      { type: 'step.insert', step: aStep({ runId: 'contested', seq: 9, status: 'waiting' }) },
      { type: 'approval.insert', approval: anApproval({ runId: 'contested' }) },
    )
    await commit(storage, { type: 'idempotency.reserve', record: expired, now: at(0) })

    const outcomes = await callAll(storage, (caller) => [
      { type: 'event.append', events: [anEvent({ topic: 'contest', type: `caller.${caller}` })] },
      write(caller),
    ])

    const winners = winnersOf(outcomes)
    const events = await storage.events.read({ topic: 'contest' }, { after: 0, limit: CALLERS })
    expect(winners).toHaveLength(1)
    expect(events.map(({ type }) => type)).toEqual([`caller.${winners[0]}`])
    expect(outcomes.filter((outcome) => !outcome.committed && outcome.index !== 1)).toEqual([])
  },
}))

/** Event positions of each commit, sorted by the first position. */
const blocksOf = (outcomes: readonly CommitOutcome[]): readonly (readonly number[])[] =>
  outcomes
    .map((outcome) => (outcome.committed ? outcome.events.map(({ position }) => position) : []))
    .sort(([first = 0], [other = 0]) => first - other)

export const concurrencyCases: readonly ContractCase[] = [
  {
    title: 'resolves commits in the order of the calls to each process',
    async run(storage, processes) {
      const answered: number[] = []
      const call = async (caller: number) => {
        const isRefused = caller % 3 === 0
        const writes: Write[] = [{ type: 'event.append', events: [anEvent()] }]
        if (isRefused) writes.push({ type: 'run.fence', runId: 'no such run', attempt: 1 })
        await storage.unitOfWork.commit(writes)
        answered.push(caller)
      }
      const callers = Array.from({ length: CALLERS }, (_, caller) => caller)

      await Promise.all(callers.map(call))

      for (let process = 0; process < processes; process++) {
        const isItsCall = (caller: number) => caller % processes === process
        expect(answered.filter(isItsCall)).toEqual(callers.filter(isItsCall))
      }
    },
  },
  ...contestCases,
  {
    title: 'numbers the events of concurrent commits contiguously per commit',
    async run(storage) {
      const outcomes = await callAll(storage, (caller) => [
        { type: 'event.append', events: [anEvent({ topic: 'all', type: `first.${caller}` })] },
        { type: 'event.append', events: [anEvent({ topic: 'all' }), anEvent({ topic: 'all' })] },
      ])

      const numbers = blocksOf(outcomes).flat()
      const read = await storage.events.read({ topic: 'all' }, { after: 0, limit: CALLERS * 3 })
      expect(numbers).toEqual(numbers.toSorted((first, other) => first - other))
      expect(new Set(numbers).size).toBe(CALLERS * 3)
      expect(read.map(({ position }) => position)).toEqual(numbers)
    },
  },
  {
    title: 'assigns each seq once, in commit order, to concurrent messages of a session',
    async run(storage) {
      await commit(storage, { type: 'session.insert', session: aSession() })

      await callAll(storage, (caller) => [
        { type: 'message.append', message: aMessage({ id: `m-${caller}` }) },
        { type: 'event.append', events: [anEvent({ topic: 'messages', type: `m-${caller}` })] },
      ])

      const list = (page: Parameters<typeof storage.sessions.messages>[1]) =>
        storage.sessions.messages(aSession().id, page)
      const messages = await walk(list, { limit: 200, order: 'asc' })
      const events = await storage.events.read({ topic: 'messages' }, { after: 0, limit: CALLERS })
      expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: CALLERS }, (_, index) => index + 1))
      expect(messages.map(({ id }) => id)).toEqual(events.map(({ type }) => type))
    },
  },
  {
    title: 'assigns each end order once, in commit order, when calls of a run end concurrently',
    async run(storage) {
      await insertRuns(storage, aRun())
      const seqs = Array.from({ length: CALLERS }, (_, index) => index + 1)
      await commit(storage, ...seqs.map((seq) => ({ type: 'step.insert', step: aStep({ seq }) }) as const))

      const change = { status: 'completed' } as const
      await callAll(storage, (caller) => [
        { type: 'step.change', runId: aRun().id, seq: CALLERS - caller, from: 'started', change },
        { type: 'event.append', events: [anEvent({ topic: 'ended', type: `${CALLERS - caller}` })] },
      ])

      const steps = await storage.steps.list(aRun().id)
      const ended = steps.toSorted((one, other) => (one.endOrder ?? 0) - (other.endOrder ?? 0))
      const events = await storage.events.read({ topic: 'ended' }, { after: 0, limit: CALLERS })
      expect(ended.map(({ endOrder }) => endOrder)).toEqual(seqs)
      expect(ended.map(({ seq }) => `${seq}`)).toEqual(events.map(({ type }) => type))
    },
  },
  {
    title: 'does not let a conflict affect concurrent commits',
    async run(storage) {
      await insertRuns(storage, aRun({ id: 'taken' }))

      const outcomes = await callAll(storage, (caller) => [
        { type: 'event.append', events: [anEvent({ topic: 'neighbours', type: `caller.${caller}` })] },
        { type: 'run.insert', run: aRun({ id: caller % 3 === 0 ? 'taken' : `run-${caller}` }) },
      ])

      const expected = Array.from({ length: CALLERS }, (_, caller) => caller).filter((caller) => caller % 3 !== 0)
      const events = await storage.events.read({ topic: 'neighbours' }, { after: 0, limit: CALLERS })
      const runs = await walk((page) => storage.runs.list({}, page, EVERY_ROW), { limit: 200, order: 'asc' })
      expect(winnersOf(outcomes)).toEqual(expected)
      expect(new Set(events.map(({ type }) => type))).toEqual(new Set(expected.map((caller) => `caller.${caller}`)))
      expect(runs).toHaveLength(expected.length + 1)
    },
  },
]
