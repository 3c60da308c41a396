import { LANE_CLOCK_TOLERANCE_MS, type LaneSlot, type TakenSlot, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { laneFreeCases } from './lane-free.contract.ts'
import { HELD, held, NOW, ofRun, take, taken, timed } from './lane-slots.ts'
import { at } from './optional-fields.ts'

const takeCases: readonly ContractCase[] = [
  {
    title: 'starts without taken slots and lists a slot that a run takes',
    async run(storage) {
      expect(await taken(storage)).toEqual([])

      expect((await commit(storage, take('a', held('x')))).counts).toEqual([1])
      expect((await commit(storage, take('a', timed('x', 1, 200), held('y')))).counts).toEqual([2])

      expect(await taken(storage)).toEqual(ofRun('a', [held('x'), timed('x', 1, 200), held('y')]))
    },
  },
  {
    title: 'refuses a slot that another run holds, returns that slot and takes nothing',
    async run(storage) {
      await commit(storage, take('a', held('x', 1), timed('y', 0, 200)))
      const before = await taken(storage)

      for (const [wanted, current] of [
        [held('x', 1), held('x', 1)],
        [timed('x', 1, 500), held('x', 1)],
        [held('y'), timed('y', 0, 200)],
      ] as const) {
        const { index, conflict } = await refused(storage, take('b', held('x', 0), wanted, held('z')))

        expect([index, conflict]).toEqual([0, { type: 'lane.take', current: { ...current, runId: 'a' } }])
        expect(await taken(storage)).toEqual(before)
      }
    },
  },
  {
    title: 'takes a slot that is kept longer than it would be now, because the clock was set back',
    async run(storage) {
      const late = 900 + LANE_CLOCK_TOLERANCE_MS
      await commit(storage, take('a', timed('x', 0, late)))

      for (const slot of [timed('x', 0, late), held('x')]) await refused(storage, take('b', slot))
      await commit(storage, take('b', timed('x', 0, 899)))
      expect(await taken(storage)).toEqual(ofRun('b', [timed('x', 0, 899)]))
    },
  },
  {
    title: 'refuses a slot to a start whose time is earlier, because another server decided it or has another clock',
    async run(storage) {
      const late = 900 + LANE_CLOCK_TOLERANCE_MS
      await commit(storage, take('a', timed('x', 0, late)))

      for (const ms of [late - 1, 901, 900]) {
        const { conflict } = await refused(storage, take('b', timed('x', 0, ms)))
        expect(conflict).toMatchObject({ current: { runId: 'a' } })
      }
      expect(await taken(storage)).toEqual(ofRun('a', [timed('x', 0, late)]))
    },
  },
  {
    title: 'gives a slot to one of many concurrent starts, in whatever order their times are',
    async run(storage) {
      const { commit: tryCommit } = storage.unitOfWork
      const times = [900, 870, 899, 860, 898, 890, 850, 897]
      const outcomes = await Promise.all(times.map((ms) => tryCommit([take(`run-${ms}`, timed('x', 0, ms))])))
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
  {
    title: 'returns the first of several slots that other runs hold',
    async run(storage) {
      await commit(storage, take('a', held('x')), take('b', held('y')))

      const { conflict } = await refused(storage, take('c', held('z'), held('y'), held('x')))

      expect(conflict).toEqual({ type: 'lane.take', current: { ...held('y'), runId: 'b' } })
    },
  },
  {
    title: 'lets a run take its own slot again, with the new time at which it becomes free',
    async run(storage) {
      for (const slot of [held('x'), timed('x', 0, 300), timed('x', 0, 200), held('x')]) {
        expect((await commit(storage, take('a', slot))).counts).toEqual([1])
        expect(await taken(storage)).toEqual(ofRun('a', [slot]))
      }
    },
  },
  {
    title: 'takes the slot of another run exactly from freeAt',
    async run(storage) {
      await commit(storage, take('a', timed('x', 0, 99), timed('x', 1, 100), timed('x', 2, 101)))

      await commit(storage, take('b', held('x', 0), timed('x', 1, 200)))
      expect((await refused(storage, take('b', held('x', 2)))).conflict).toEqual({
        type: 'lane.take',
        current: { ...timed('x', 2, 101), runId: 'a' },
      })

      expect(await taken(storage)).toEqual([
        { ...held('x', 0), runId: 'b' },
        { ...timed('x', 1, 200), runId: 'b' },
        { ...timed('x', 2, 101), runId: 'a' },
      ])
    },
  },
  {
    title: 'takes slots for a run that the same commit inserts, and neither of them when the commit conflicts',
    async run(storage) {
      const insert: Write = { type: 'run.insert', run: aRun({ id: 'a', status: 'running' }) }
      await refused(storage, insert, take('a', ...HELD), { type: 'run.fence', runId: 'a', attempt: 2 })
      expect(await taken(storage)).toEqual([])
      await commit(storage, insert, take('a', ...HELD))
      expect(await taken(storage)).toEqual(ofRun('a', HELD))

      const other: Write = { type: 'run.insert', run: aRun({ id: 'b', status: 'running' }) }
      expect(await refused(storage, other, take('b', held('new'), HELD[1] as LaneSlot))).toMatchObject({ index: 1 })
      expect(await findRun(storage, 'b')).toBeUndefined()
    },
  },
  {
    title: 'lets exactly one of many concurrent runs take a slot',
    async run(storage) {
      const { commit: tryCommit } = storage.unitOfWork
      const outcomes = await Promise.all(ODD_LANES.map((_, index) => tryCommit([take(`run-${index}`, held('x'))])))
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      expect(await taken(storage)).toHaveLength(1)
    },
  },
]

/** The order by UTF-16 code unit would have the ships before the full-width tilde. */
const BY_CODE_POINT = ['', '\n', ' ', '%', 'X', 'e\u0301', "it's", 'x', 'x:', 'x:1', 'é', '～', '🚢', '🚢 ']
const ODD_LANES = BY_CODE_POINT.toReversed()

const listCases: readonly ContractCase[] = [
  {
    title: 'tells apart lanes with odd names, and lists them by code point',
    async run(storage) {
      for (const [index, lane] of ODD_LANES.entries()) await commit(storage, take(`run-${index}`, held(lane)))

      const expected = BY_CODE_POINT.map((lane) => ({ ...held(lane), runId: `run-${ODD_LANES.indexOf(lane)}` }))
      expect(await taken(storage)).toEqual(expected)
      for (const [index, { lane, slot, runId }] of expected.entries()) {
        const after = { lane, slot }
        expect(await storage.lanes.taken({ now: NOW, after, limit: 1_000 })).toEqual(expected.slice(index + 1))
        expect((await refused(storage, take('other', held(lane)))).conflict).toMatchObject({ current: { lane, runId } })
      }
    },
  },
  {
    title: 'lists taken slots by lane and slot number, in parts of any length, without free ones',
    async run(storage) {
      const slots = [10, 2, 0, 1].flatMap((slot) => [held('b', slot), timed('a', slot, 100 + slot)])
      for (const slot of slots) await commit(storage, take('run', slot))
      const expected = [
        timed('a', 1, 101),
        timed('a', 2, 102),
        timed('a', 10, 110),
        ...[0, 1, 2, 10].map((slot) => held('b', slot)),
      ]

      for (const limit of [1, 2, 3, 7, 8]) {
        const listed: TakenSlot[] = []
        for (let part = await storage.lanes.taken({ now: NOW, limit }); part.length > 0; ) {
          expect(part.length).toBeLessThanOrEqual(limit)
          listed.push(...part)
          part = await storage.lanes.taken({ now: NOW, after: part.at(-1), limit })
        }
        expect(listed).toEqual(ofRun('run', expected))
      }
    },
  },
  {
    title: 'continues after a slot that nothing takes any more',
    async run(storage) {
      await commit(storage, take('run', held('a', 1), held('a', 3), held('b', 0)))

      const rest = (lane: string, slot: number) => storage.lanes.taken({ now: NOW, after: { lane, slot }, limit: 1 })

      expect([await rest('a', 2), await rest('a', 99), await rest('b', 0)]).toEqual([
        ofRun('run', [held('a', 3)]),
        ofRun('run', [held('b', 0)]),
        [],
      ])
    },
  },
  {
    title: 'treats a slot as free exactly from freeAt',
    async run(storage) {
      await commit(storage, take('run', timed('x', 0, 150)))

      expect(await taken(storage, at(149))).toHaveLength(1)
      expect(await taken(storage, at(150))).toEqual([])
    },
  },
  {
    title: 'prunes exactly the slots that are free, up to the limit',
    async run(storage) {
      await commit(storage, take('run', held('x', 0), ...[1, 2, 3, 4].map((slot) => timed('x', slot, 200 + slot))))
      const prune = async (ms: number, limit: number) =>
        (await commit(storage, { type: 'lane.prune', now: at(ms), limit })).counts[0]

      expect([await prune(200, 10), await prune(203, 2), await prune(203, 2), await prune(203, 2)]).toEqual([
        0, 2, 1, 0,
      ])
      expect(await taken(storage, at(0))).toEqual(ofRun('run', [held('x', 0), timed('x', 4, 204)]))
    },
  },
]

export const laneStoreCases: readonly ContractCase[] = [...takeCases, ...listCases, ...laneFreeCases]

/** Requirements for every `LaneStore` and for writes of lanes. */
export const laneStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'LaneStore', cases: laneStoreCases }], harness)
