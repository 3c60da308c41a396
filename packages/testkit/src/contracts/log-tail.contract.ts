import type { CommitSignal, EpochMs, LogFollower, Storage, TailedEvent, WatchedStreams, Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { aFire, anApproval, anEvent, aRun, aSession, aStep, aToken, aTrigger } from '../builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

export interface LogTailHarness {
  readonly name: string
  /** Opens an empty storage as two processes. */
  open(): Promise<Pair>
  close(pair: Pair): Promise<void>
}

type Pair = readonly [one: Storage, other: Storage]

export interface LogTailCase {
  readonly title: string
  run(pair: Pair): Promise<void>
}

interface Recorder {
  readonly events: TailedEvent[]
  readonly foreign: TailedEvent[]
  readonly signals: CommitSignal[]
  readonly watched: { -readonly [Kind in keyof WatchedStreams]: string[] }
  /** Called with each foreign event. */
  onForeign: (event: TailedEvent) => void
}

/** Records what the tail of the storage delivers. */
function follow({ tail }: Storage): Recorder {
  const recorder: Recorder = {
    events: [],
    foreign: [],
    signals: [],
    watched: { runIds: [], sessionIds: [], topics: [] },
    onForeign: () => undefined,
  }
  const follower: LogFollower = {
    watched: () => recorder.watched,
    isWaiting: () => true,
    deliver({ events, foreign, signals }) {
      recorder.events.push(...events)
      recorder.foreign.push(...foreign)
      recorder.signals.push(...signals)
      for (const event of foreign) recorder.onForeign(event)
    },
    skip: (position) => {
      throw new Error(`skipped to ${position}`)
    },
  }
  if (tail === undefined) throw new Error('the storage has no tail')
  tail.follow(follower)
  return recorder
}

/** The events that belong to a stream. */
const inStreams = (events: readonly TailedEvent[]) =>
  events.filter(({ runId, sessionId, topic }) => (runId ?? sessionId ?? topic) !== undefined)

const typesOf = (events: readonly TailedEvent[]): readonly string[] => inStreams(events).map(({ type }) => type)

const append = (type: string, topic = 'log'): Write => ({ type: 'event.append', events: [anEvent({ type, topic })] })

const ROUNDS = 40

/** Resolves when the other process has delivered everything that was committed before. */
async function settle({ unitOfWork }: Storage, recorder: Recorder): Promise<void> {
  const mark = `mark-${recorder.events.length}-${recorder.signals.length}-${Math.random()}`
  await unitOfWork.commit([append(mark)])
  await expect.poll(() => typesOf(recorder.events), { timeout: 10_000, interval: 5 }).toContain(mark)
}

const SIGNALS: readonly { readonly of: string; readonly writes: readonly Write[]; readonly signal: CommitSignal }[] = [
  {
    of: 'revoked tokens',
    writes: [
      { type: 'token.insert', token: aToken() },
      { type: 'token.revoke', id: aToken().id, at: at(1) },
    ],
    signal: { type: 'tokens' },
  },
  {
    of: 'deleted sessions',
    writes: [
      { type: 'session.insert', session: aSession() },
      { type: 'session.delete', id: aSession().id, answer: { status: 404, body: '' } },
    ],
    signal: { type: 'deleted' },
  },
  {
    of: 'deleted threads',
    writes: [{ type: 'thread.delete', workflowId: 'flow', threadId: 'thr', answer: { status: 404, body: '' } }],
    signal: { type: 'deleted' },
  },
  {
    of: 'new triggers and fires',
    writes: [
      { type: 'trigger.insert', trigger: aTrigger() },
      { type: 'fire.insert', fire: aFire() },
    ],
    signal: { type: 'triggers' },
  },
  {
    of: 'the earliest of several due times',
    writes: [
      { type: 'run.insert', run: aRun({ deadlineAt: at(70) }) },
      { type: 'step.insert', step: aStep({ status: 'waiting', dueAt: at(50) }) },
      { type: 'approval.insert', approval: anApproval({ expiresAt: at(60) }) },
    ],
    signal: { type: 'due', at: at(50) },
  },
  {
    of: 'a run that starts later',
    writes: [{ type: 'run.insert', run: aRun({ startAt: at(90) as EpochMs }) }],
    signal: { type: 'start', at: at(90) },
  },
]

export const logTailCases: readonly LogTailCase[] = [
  {
    title: 'delivers the events of every process to every process, once and in the order of positions',
    async run([one, other]) {
      const recorders = [follow(one), follow(other)]
      const commitAll = async (storage: Storage, name: string) => {
        for (let round = 0; round < ROUNDS; round++)
          await Promise.all([
            commit(storage, append(`${name}-${round}`), append(`${name}-${round}-second`)),
            commit(storage, append(`${name}-${round}-beside`)),
          ])
      }

      await Promise.all([commitAll(one, 'one'), commitAll(other, 'other')])

      const stored = await one.events.read({ topic: 'log' }, { after: 0, limit: 1_000 })
      expect(stored).toHaveLength(ROUNDS * 6)
      for (const { events } of recorders) {
        await expect.poll(() => inStreams(events).length, { timeout: 10_000 }).toBe(ROUNDS * 6)
        expect(inStreams(events).map(({ position, type }) => [position, type])).toEqual(
          stored.map(({ position, type }) => [position, type]),
        )
      }
    },
  },
  {
    title: 'tells the events of other processes from those of this process',
    async run([one, other]) {
      const recorders = [follow(one), follow(other)]
      await Promise.all(
        Array.from({ length: ROUNDS }, async (_, round) => {
          await commit(one, append(`one-${round}`))
          await commit(other, append(`other-${round}`))
        }),
      )

      for (const [index, name] of ['other', 'one'].entries()) {
        const { foreign = [] } = recorders[index] ?? {}
        await expect.poll(() => typesOf(foreign).length, { timeout: 10_000 }).toBe(ROUNDS)
        expect(typesOf(foreign).every((type) => type.startsWith(`${name}-`))).toBe(true)
      }
    },
  },
  {
    title: 'delivers the own events of a commit before its promise resolves',
    async run([one]) {
      const { events } = follow(one)
      for (let round = 0; round < 5; round++) {
        await commit(one, append(`round-${round}`))
        expect(typesOf(events)).toHaveLength(round + 1)
      }
    },
  },
  {
    title: 'delivers a foreign event after the answer to the commit on which it depends',
    async run([one, other]) {
      const recorder = follow(one)
      follow(other)
      const answered = new Set<string>()
      const early: string[] = []
      recorder.onForeign = ({ runId = '' }) => {
        if (runId !== '' && !answered.has(runId)) early.push(runId)
      }
      let isOver = false
      const replies = new Set<string>()
      const reply = async () => {
        while (!isOver) {
          await new Promise((resolve) => setImmediate(resolve))
          for (const { runId = '' } of await other.events.read({ topic: 'asked' }, { after: 0, limit: 1_000 })) {
            if (replies.has(runId)) continue
            replies.add(runId)
            await commit(other, { type: 'event.append', events: [anEvent({ type: 'reply', runId })] })
          }
        }
      }
      const replying = reply()
      for (let round = 0; round < ROUNDS; round++) {
        const runId = `run-${round}`
        await commit(one, { type: 'event.append', events: [anEvent({ type: 'ask', runId, topic: 'asked' })] })
        answered.add(runId)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await expect.poll(() => recorder.foreign.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(ROUNDS)
      isOver = true
      await replying

      expect(early).toEqual([])
    },
  },
  {
    title: 'delivers the payloads of watched streams as they are stored',
    async run([one, other]) {
      const recorder = follow(other)
      recorder.watched.runIds.push('run-a')
      recorder.watched.sessionIds.push('ses-b')
      recorder.watched.topics.push('topic-c')
      const events = [
        anEvent({ runId: 'run-a' }),
        anEvent({ sessionId: 'ses-b', phase: 'commentary' }),
        anEvent({ topic: 'topic-c' }),
        anEvent({ runId: 'run-a', sessionId: 'ses-x', topic: 'topic-x' }),
      ]
      const outcome = await commit(one, { type: 'event.append', events })
      await settle(one, recorder)

      expect(recorder.foreign.slice(0, events.length)).toEqual(outcome.events)
    },
  },
  ...SIGNALS.map(
    ({ of, writes, signal }): LogTailCase => ({
      title: `signals ${of} to other processes only, and keeps it out of the outcome`,
      async run([one, other]) {
        const recorders = [follow(one), follow(other)] as const
        await commit(one, append('first'))
        const outcome = await commit(one, ...writes)
        await settle(one, recorders[1])

        expect(recorders.map(({ signals }) => signals)).toEqual([[], [signal]])
        expect([outcome.events, outcome.counts.length]).toEqual([[], writes.length])
      },
    }),
  ),
  {
    title: 'signals nothing for a commit that conflicts',
    async run([one, other]) {
      const recorder = follow(other)
      const outcome = await one.unitOfWork.commit([
        { type: 'token.insert', token: aToken() },
        { type: 'token.revoke', id: aToken().id, at: at(1) },
        { type: 'run.fence', runId: 'missing', attempt: 1 },
      ])
      await settle(one, recorder)

      expect([outcome.committed, recorder.signals]).toEqual([false, []])
    },
  },
  {
    title: 'goes on after events were deleted',
    async run([one, other]) {
      const recorder = follow(other)
      await commit(one, { type: 'session.insert', session: aSession() })
      for (let round = 0; round < 5; round++) {
        await commit(one, { type: 'event.append', events: [anEvent({ sessionId: aSession().id })] })
      }
      await commit(one, { type: 'session.delete', id: aSession().id, answer: { status: 404, body: '' } })
      await settle(one, recorder)
      await settle(other, recorder)

      const positions = recorder.events.map(({ position }) => position)
      expect(positions).toEqual(positions.toSorted((first, second) => first - second))
      expect(new Set(positions).size).toBe(positions.length)
    },
  },
  {
    title: 'is current while it follows',
    async run([one, other]) {
      const recorder = follow(other)
      await settle(one, recorder)

      await expect.poll(() => other.tail?.state().isCurrent, { timeout: 10_000 }).toBe(true)
      expect(other.tail?.state().lagMs).toBeLessThan(5_000)
    },
  },
]

/** Requirements for every `LogTail`. */
export function logTailContract({ name, open, close }: LogTailHarness): void {
  describe(`LogTail: ${name}`, () => {
    for (const { title, run } of logTailCases) {
      it(title, async () => {
        const pair = await open()
        try {
          await run(pair)
        } finally {
          await close(pair)
        }
      })
    }
  })
}
