import { type FireRecord, type FireStatus, type Storage, toJsonText, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aFire, aTrigger } from '../builders.ts'
import { commit, fillOneByOne, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<FireRecord> = {
  input: toJsonText({ order: 7, name: 'Grüße 🚢' }),
  firedAt: at(1),
  sessionId: 'C42-1700000000',
  runId: 'run_1',
  reason: 'agent-busy: "wait"\n',
}
const STATUSES: readonly FireStatus[] = ['pending', 'started', 'completed', 'failed', 'skipped', 'missed']
const EVERY_FIRE = { limit: 200, order: 'asc' } as const

const fireWrites = (fires: readonly FireRecord[]): readonly Write[] =>
  fires.map((fire) => ({ type: 'fire.insert', fire }))

const open = (storage: Storage, ...fires: readonly FireRecord[]) =>
  commit(storage, { type: 'trigger.insert', trigger: aTrigger() }, ...fireWrites(fires))

const idsOf = (fires: readonly FireRecord[]) => fires.map(({ id }) => id)

const insertCases: readonly ContractCase[] = [
  {
    title: 'round-trips a fire with all, one and none of the optional fields, every cause and every status',
    async run(storage) {
      const varied = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aFire({ id: `f-${index}`, scheduledAt: at(index), ...fields }),
      )
      const causes = (['event', 'manual'] as const).map((cause) => aFire({ id: cause, cause }))
      const statuses = STATUSES.map((status, index) => aFire({ id: status, status, scheduledAt: at(100 + index) }))
      const fires = [...varied, ...causes, ...statuses]
      await open(storage, ...fires)

      for (const fire of fires) expect(await storage.fires.find(fire.id)).toEqual(fire)
      expect(await storage.fires.find('f-unknown')).toBeUndefined()
    },
  },
  {
    title: 'refuses a second scheduled fire for an occurrence and returns the first',
    async run(storage) {
      const first = aFire({ status: 'completed' })
      await open(storage, first)

      const outcome = await refused(storage, { type: 'fire.insert', fire: aFire({ id: 'again' }) })

      expect(outcome.conflict).toEqual({ type: 'fire.insert', current: first })
      expect(await storage.fires.find('again')).toBeUndefined()
    },
  },
  {
    title: 'lets exactly one of many concurrent callers insert the fire for an occurrence',
    async run(storage) {
      await open(storage)

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit([{ type: 'fire.insert', fire: aFire({ id: `f-${index}` }) }]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
  {
    title: 'refuses a fire above the limit of pending fires of its trigger, even among concurrent inserts',
    async run(storage) {
      const event = (id: string, over: Partial<FireRecord> = {}) => aFire({ id, cause: 'event', ...over })
      await open(storage, event('over', { status: 'completed' }), event('waits'))
      await commit(storage, { type: 'trigger.insert', trigger: aTrigger({ id: 'other' }) })
      const write = (fire: FireRecord) => ({ type: 'fire.insert', fire, maxPending: 3 }) as const

      const outcomes = await Promise.all([...'abcdefgh'].map((id) => storage.unitOfWork.commit([write(event(id))])))

      const refusals = outcomes.filter(({ committed }) => !committed)
      expect(refusals).toHaveLength(6)
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ conflict: { type: 'fire.insert', isFull: true } })
      }
      const { items } = await storage.fires.list({ triggerId: 'nightly', status: 'pending' }, EVERY_FIRE)
      expect(items).toHaveLength(3)
      expect((await refused(storage, write(event('waits')))).conflict).toMatchObject({ current: { id: 'waits' } })
      await commit(storage, write(event('of other', { triggerId: 'other' })))
      await commit(storage, { type: 'fire.insert', fire: event('unlimited') })
    },
  },
  {
    title: 'lets exactly one of many concurrent callers insert the last pending fire below the limit, each time',
    async run(storage) {
      await open(storage)
      await fillOneByOne((id, max) =>
        storage.unitOfWork.commit([{ type: 'fire.insert', fire: aFire({ id, cause: 'event' }), maxPending: max }]),
      )
    },
  },
  {
    title: 'accepts the same instant for another trigger, and repeatedly for event fires and manual fires',
    async run(storage) {
      const more = (['event', 'manual'] as const).flatMap((cause) => [
        aFire({ id: `${cause}-1`, cause }),
        aFire({ id: `${cause}-2`, cause }),
      ])
      await open(storage, aFire(), ...more)
      await commit(storage, { type: 'trigger.insert', trigger: aTrigger({ id: 'other' }) })
      await commit(storage, { type: 'fire.insert', fire: aFire({ id: 'other', triggerId: 'other' }) })

      expect((await storage.fires.list({ triggerId: 'nightly' }, EVERY_FIRE)).items).toHaveLength(5)
      expect((await storage.fires.list({ triggerId: 'other' }, EVERY_FIRE)).items).toHaveLength(1)
    },
  },
  {
    title: 'leaves out an optional fire that cannot be inserted, and commits the other writes',
    async run(storage) {
      await open(storage, aFire())
      const optional = (over: Partial<FireRecord>, maxPending?: number) =>
        ({
          type: 'fire.insert',
          fire: aFire({ cause: 'event', status: 'pending', ...over }),
          maxPending,
          isOptional: true,
        }) as const

      const outcome = await storage.unitOfWork.commit([
        optional({}),
        optional({ id: 'of none', triggerId: 'unknown' }),
        optional({ id: 'full' }, 0),
        optional({ id: 'fits' }, 2),
        { type: 'trigger.insert', trigger: aTrigger({ id: 'other' }) },
      ])

      expect(outcome).toMatchObject({ committed: true, counts: [0, 0, 0, 1, 1] })
      const { items } = await storage.fires.list({ triggerId: 'nightly' }, EVERY_FIRE)
      expect(items.map(({ id }) => id).toSorted()).toEqual([aFire().id, 'fits'].toSorted())
      expect(await storage.triggers.find('other')).toBeDefined()
    },
  },
  {
    title: 'refuses a fire with a taken id and a fire of an unknown trigger',
    async run(storage) {
      await open(storage, aFire())

      const taken = await refused(storage, { type: 'fire.insert', fire: aFire({ scheduledAt: at(9) }) })
      expect(taken.conflict).toEqual({ type: 'fire.insert', current: aFire() })
      const unknown = await refused(storage, { type: 'fire.insert', fire: aFire({ id: 'x', triggerId: 'x' }) })
      expect(unknown.conflict).toEqual({ type: 'fire.insert' })
    },
  },
]

const changeCases: readonly ContractCase[] = [
  {
    title: 'changes a fire that has the expected status and keeps the fields that the change omits',
    async run(storage) {
      await open(storage, aFire({ ...OPTIONALS }), aFire({ id: 'other', scheduledAt: at(1) }))

      await commit(storage, {
        type: 'fire.change',
        id: aFire().id,
        from: 'pending',
        change: { status: 'started', runId: 'run_2' },
      })

      expect(await storage.fires.find(aFire().id)).toEqual(aFire({ ...OPTIONALS, status: 'started', runId: 'run_2' }))
      expect(await storage.fires.find('other')).toEqual(aFire({ id: 'other', scheduledAt: at(1) }))
    },
  },
  {
    title: 'refuses to change a fire that does not have the expected status and returns the fire',
    async run(storage) {
      const current = aFire({ status: 'skipped' })
      await open(storage, current)
      const change = { status: 'started' } as const

      const outcome = await refused(storage, { type: 'fire.change', id: current.id, from: 'pending', change })
      expect(outcome.conflict).toEqual({ type: 'fire.change', current })
      const unknown = await refused(storage, { type: 'fire.change', id: 'x', from: 'pending', change })
      expect(unknown.conflict).toEqual({ type: 'fire.change' })
    },
  },
  {
    title: 'ends a started fire and, if it is the newest fire of its trigger, sets the status of the trigger',
    async run(storage) {
      const fire = aFire({ status: 'started', runId: 'run_1' })
      const trigger = aTrigger({ lastFireId: fire.id, lastStatus: 'started' })
      await commit(storage, { type: 'trigger.insert', trigger }, { type: 'fire.insert', fire })

      const end = { type: 'fire.end', id: fire.id, status: 'failed', reason: 'no luck' } as const
      const { counts } = await commit(storage, end, { ...end, status: 'completed' })

      expect(counts).toEqual([1, 0])
      expect(await storage.fires.find(fire.id)).toEqual({ ...fire, status: 'failed', reason: 'no luck' })
      expect(await storage.triggers.find('nightly')).toEqual({ ...trigger, lastStatus: 'failed', version: 2 })
    },
  },
  {
    title: 'leaves the trigger unchanged when an older fire ends, and ignores the end of a fire that is not started',
    async run(storage) {
      const fire = aFire({ status: 'started' })
      const trigger = aTrigger({ lastFireId: 'newer', lastStatus: 'skipped' })
      const pending = aFire({ id: 'waits', scheduledAt: at(1) })
      await commit(storage, { type: 'trigger.insert', trigger }, ...fireWrites([fire, pending]))

      const { counts } = await commit(
        storage,
        { type: 'fire.end', id: fire.id, status: 'completed' },
        { type: 'fire.end', id: pending.id, status: 'completed' },
        { type: 'fire.end', id: 'unknown', status: 'completed' },
      )

      expect(counts).toEqual([1, 0, 0])
      expect(await storage.triggers.find('nightly')).toEqual(trigger)
      expect(await storage.fires.find(pending.id)).toEqual(pending)
    },
  },
  {
    title: 'prunes fires created before an instant (exclusive), up to the limit, except pending and started fires',
    async run(storage) {
      const fires = STATUSES.map((status, index) => aFire({ id: status, status, scheduledAt: at(index) }))
      const later = aFire({ id: 'later', status: 'missed', scheduledAt: at(50), createdAt: at(1) })
      await open(storage, ...fires, later)

      const { counts } = await commit(
        storage,
        { type: 'fire.prune', before: at(1), limit: 3 },
        { type: 'fire.prune', before: at(1), limit: 3 },
      )

      expect(counts).toEqual([3, 1])
      const left = await storage.fires.list({ triggerId: 'nightly' }, EVERY_FIRE)
      expect(idsOf(left.items)).toEqual(['pending', 'started', 'later'])
    },
  },
]

const readCases: readonly ContractCase[] = [
  {
    title: 'lists the fires of one status',
    async run(storage) {
      const fires = STATUSES.map((status, index) => aFire({ id: status, status, scheduledAt: at(index) }))
      await open(storage, ...fires)

      for (const status of STATUSES) {
        const { items } = await storage.fires.list({ triggerId: 'nightly', status }, EVERY_FIRE)
        expect(idsOf(items)).toEqual([status])
      }
    },
  },
  {
    title: 'lists the first pending fire of each trigger, ordered by id, up to the limit',
    async run(storage) {
      expect(await storage.fires.firstPending(9)).toEqual([])
      await open(
        storage,
        aFire({ id: 'a-over', status: 'completed' }),
        aFire({ id: 'c', scheduledAt: at(1) }),
        aFire({ id: 'd', scheduledAt: at(2) }),
      )
      await commit(storage, { type: 'trigger.insert', trigger: aTrigger({ id: 'other' }) })
      await commit(storage, ...fireWrites([aFire({ id: 'b', triggerId: 'other' })]))

      expect(idsOf(await storage.fires.firstPending(9))).toEqual(['b', 'c'])
      expect(idsOf(await storage.fires.firstPending(1))).toEqual(['b'])
    },
  },
]

export const fireStoreCases: readonly ContractCase[] = [
  ...insertCases,
  ...changeCases,
  ...readCases,
  ...pagedListCases({
    noun: 'fires',
    prepare: (storage) => open(storage),
    insert: (storage, { id, createdAt, text }) =>
      commit(storage, { type: 'fire.insert', fire: aFire({ id, createdAt, scheduledAt: createdAt, reason: text }) }),
    list: (storage, page) => storage.fires.list({ triggerId: 'nightly' }, page),
  }),
]

/** Requirements for every `FireStore` and for writes of fires. */
export const fireStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'FireStore', cases: fireStoreCases }], harness)
