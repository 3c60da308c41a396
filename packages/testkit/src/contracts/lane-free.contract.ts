import type { RunStatus, Write } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun, aSession } from '../builders.ts'
import { commit, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { HELD, held, insertRunning, ofRun, TIMED, take, taken, timed } from './lane-slots.ts'
import { at } from './optional-fields.ts'

const STOPPED: readonly RunStatus[] = RUN_STATUS_NAMES.filter((status) => status !== 'running')

export const laneFreeCases: readonly ContractCase[] = [
  {
    title: 'frees the slots without freeAt when their run is no longer running, and no others',
    async run(storage) {
      for (const status of STOPPED) {
        await insertRunning(storage, status)
        const slots = [...HELD, ...TIMED].map((slot) => ({ ...slot, lane: `${slot.lane} of ${status}` }))
        await commit(storage, take(status, ...slots), take('other', held(`other ${status}`)))
        const change = { status }
        await commit(storage, { type: 'run.transition', runId: status, from: ['running'], attempt: 1, change })

        const left = (await taken(storage)).filter(({ runId }) => runId === status)
        expect(left).toEqual(ofRun(status, slots.slice(HELD.length)))
      }
      expect((await taken(storage)).filter(({ runId }) => runId === 'other')).toHaveLength(STOPPED.length)
    },
  },
  {
    title: 'keeps the slots of a run whose transition leaves it running, or that was not running',
    async run(storage) {
      await insertRunning(storage, 'a')
      await insertRuns(storage, aRun({ id: 'b', status: 'queued' }))
      await commit(storage, take('a', held('x')), take('b', held('y')))
      const transition = (runId: string, from: RunStatus, status?: RunStatus): Write => ({
        ...{ type: 'run.transition', runId, from: [from], attempt: 1 },
        change: { status, abortReason: 'test' },
      })

      await commit(storage, transition('a', 'running'), transition('a', 'running', 'running'))
      await commit(storage, transition('b', 'queued', 'suspended'))

      expect(await taken(storage)).toEqual([...ofRun('a', [held('x')]), ...ofRun('b', [held('y')])])
    },
  },
  {
    title: 'lets the commit that ends a run give its slot to another run, and undoes both when it conflicts',
    async run(storage) {
      await insertRunning(storage, 'a', 'b')
      await commit(storage, take('a', held('x')))
      const change = { status: 'completed' } as const
      const handOver: readonly Write[] = [
        { type: 'run.transition', runId: 'a', from: ['running'], attempt: 1, change },
        take('b', held('x')),
      ]

      await refused(storage, ...handOver, { type: 'run.fence', runId: 'b', attempt: 9 })
      expect(await taken(storage)).toEqual(ofRun('a', [held('x')]))

      await commit(storage, ...handOver)
      expect(await taken(storage)).toEqual(ofRun('b', [held('x')]))
    },
  },
  {
    title: 'frees the slots without freeAt of every deleted run, and keeps those with freeAt',
    async run(storage) {
      const answer = { status: 410, body: '' }
      const ended = { status: 'completed', completedAt: at(1) } as const
      await commit(storage, { type: 'session.insert', session: aSession({ id: 'ses' }) })
      const runs = [
        aRun({ id: 'of-thread', kind: 'workflow', targetId: 'flow', threadId: 'thr', ...ended, createdAt: at(50) }),
        aRun({ id: 'of-session', sessionId: 'ses', ...ended, createdAt: at(50) }),
        aRun({ id: 'old', ...ended }),
        aRun({ id: 'kept', status: 'running' }),
      ]
      await insertRuns(storage, ...runs)
      for (const { id } of runs) await commit(storage, take(id, held(`held by ${id}`), timed(`rate of ${id}`, 0, 200)))
      const deletions: readonly (readonly [string, Write])[] = [
        ['of-thread', { type: 'thread.delete', workflowId: 'flow', threadId: 'thr', answer }],
        ['of-session', { type: 'session.delete', id: 'ses', answer }],
        ['old', { type: 'run.prune', before: at(10), limit: 10 }],
      ]

      for (const [id, deletion] of deletions) {
        await refused(storage, deletion, { type: 'run.fence', runId: 'unknown', attempt: 1 })
        expect((await taken(storage)).filter(({ runId }) => runId === id)).toHaveLength(2)

        await commit(storage, deletion)
        expect((await taken(storage)).filter(({ runId }) => runId === id)).toEqual(
          ofRun(id, [timed(`rate of ${id}`, 0, 200)]),
        )
      }
      expect((await taken(storage)).filter(({ runId }) => runId === 'kept')).toHaveLength(2)
    },
  },
]
