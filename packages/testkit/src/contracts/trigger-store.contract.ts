import { type Storage, type TriggerMembers, type TriggerRecord, type TriggerRule, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { aFire, aRun, aTrigger } from '../builders.ts'
import { commit, fillOneByOne, insertRuns, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

/** The rule of each kind. */
const RULES: { readonly [Kind in TriggerRule['kind']]: Extract<TriggerRule, { readonly kind: Kind }> } = {
  cron: { kind: 'cron', cron: '*/5 0 29 2 *', timezone: 'Australia/Lord_Howe' },
  interval: { kind: 'interval', intervalMs: 60_000 },
  idle: { kind: 'idle', idleMs: 5_000 },
  event: { kind: 'event', event: 'order.paid' },
  webhook: { kind: 'webhook', hook: 'github' },
}

const OPTIONALS: Optionals<TriggerMembers> = {
  expiresAt: at(1),
  declared: toJsonText({ id: 'Grüße 🚢' }),
  undeclaredAt: at(2),
  superseded: ['a1', 'b2'],
  orphanedAt: at(2),
  failure: 'no such "zone"\n',
  decidedThrough: at(3),
  nextAt: at(4),
  dueAt: at(5),
  lastFireId: 'fire_1',
  lastFireAt: at(6),
  lastStatus: 'completed',
}

const FULL_TARGET = { kind: 'workflow', id: 'flow', input: toJsonText({ a: [null, 'ü'] }), sessionId: 'ses' } as const

const insert = (storage: Storage, ...triggers: readonly TriggerRecord[]) =>
  commit(storage, ...triggers.map((trigger) => ({ type: 'trigger.insert', trigger }) as const))

const idsOf = (triggers: readonly TriggerRecord[]) => triggers.map(({ id }) => id)

const recordCases: readonly ContractCase[] = [
  {
    title: 'round-trips a trigger of each kind, with all, one and none of the optional fields',
    async run(storage) {
      const triggers = [OPTIONALS, ...eachAlone(OPTIONALS), {}].flatMap((fields, index) =>
        Object.values(RULES).map((rule) => aTrigger({ ...fields, ...rule, id: `trg-${index}-${rule.kind}` })),
      )
      const whole = aTrigger({ id: 'whole', target: FULL_TARGET, enabled: false, fireCount: 3, missed: 2, version: 7 })
      await insert(storage, ...triggers, whole)

      for (const trigger of [...triggers, whole]) expect(await storage.triggers.find(trigger.id)).toEqual(trigger)
      expect(await storage.triggers.find('trg-unknown')).toBeUndefined()
    },
  },
  {
    title: 'refuses a trigger with a taken id and returns the existing trigger',
    async run(storage) {
      await insert(storage, aTrigger())

      const outcome = await refused(storage, { type: 'trigger.insert', trigger: aTrigger({ owner: 'bob' }) })

      expect(outcome.conflict).toEqual({ type: 'trigger.insert', current: aTrigger() })
      expect(await storage.triggers.find('nightly')).toEqual(aTrigger())
    },
  },
  {
    title: 'replaces a whole trigger if the new version is one higher',
    async run(storage) {
      await insert(storage, aTrigger({ ...OPTIONALS, target: FULL_TARGET }), aTrigger({ id: 'other' }))
      const next = aTrigger({ ...RULES.cron, version: 2, enabled: false, missed: 4 })

      await commit(storage, { type: 'trigger.replace', trigger: { ...next, createdAt: at(99) } })

      expect(await storage.triggers.find('nightly')).toEqual(next)
      expect(await storage.triggers.find('other')).toEqual(aTrigger({ id: 'other' }))
    },
  },
  {
    title: 'refuses an unknown trigger and a version other than the stored version plus one',
    async run(storage) {
      const current = aTrigger({ version: 3 })
      await insert(storage, current)

      for (const version of [2, 3, 5]) {
        const outcome = await refused(storage, { type: 'trigger.replace', trigger: aTrigger({ version }) })
        expect(outcome.conflict).toEqual({ type: 'trigger.replace', current })
      }
      const unknown = await refused(storage, { type: 'trigger.replace', trigger: aTrigger({ id: 'x', version: 2 }) })
      expect(unknown.conflict).toEqual({ type: 'trigger.replace' })
      expect(await storage.triggers.find('nightly')).toEqual(current)
    },
  },
  {
    title: 'lets exactly one of many concurrent callers replace a version',
    async run(storage) {
      await insert(storage, aTrigger())

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, missed) =>
          storage.unitOfWork.commit([{ type: 'trigger.replace', trigger: aTrigger({ version: 2, missed }) }]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
  {
    title: 'deletes a trigger with its fires and does not count the fires',
    async run(storage) {
      await insert(storage, aTrigger(), aTrigger({ id: 'other' }))
      await commit(
        storage,
        { type: 'fire.insert', fire: aFire() },
        { type: 'fire.insert', fire: aFire({ id: 'fire-other', triggerId: 'other' }) },
      )

      const { counts } = await commit(
        storage,
        { type: 'trigger.delete', id: 'nightly' },
        { type: 'trigger.delete', id: 'nightly' },
      )

      expect(counts).toEqual([1, 0])
      expect(await storage.triggers.find('nightly')).toBeUndefined()
      expect(await storage.fires.find(aFire().id)).toBeUndefined()
      expect((await storage.fires.firstPending(9)).map(({ id }) => id)).toEqual(['fire-other'])
    },
  },
]

const limitCases: readonly ContractCase[] = [
  {
    title: 'refuses a trigger above the limit, even among concurrent inserts',
    async run(storage) {
      await insert(storage, aTrigger({ id: 'off', enabled: false }), aTrigger({ id: 'orphan', orphanedAt: at(0) }))
      const write = (id: string) => ({ type: 'trigger.insert', trigger: aTrigger({ id }), maxTriggers: 5 }) as const

      const outcomes = await Promise.all([...'abcdefgh'].map((id) => storage.unitOfWork.commit([write(id)])))

      const refusals = outcomes.filter(({ committed }) => !committed)
      expect(refusals).toHaveLength(5)
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ conflict: { type: 'trigger.insert', isFull: true } })
      }
      expect((await storage.triggers.list({ limit: 9, order: 'asc' })).items).toHaveLength(5)
      expect((await refused(storage, write('off'))).conflict).toMatchObject({ current: { id: 'off' } })
      await insert(storage, aTrigger({ id: 'unlimited' }))
    },
  },
  {
    title: 'lets exactly one of many concurrent callers insert the last trigger below the limit, each time',
    run: (storage) =>
      fillOneByOne((id, max) =>
        storage.unitOfWork.commit([{ type: 'trigger.insert', trigger: aTrigger({ id }), maxTriggers: max }]),
      ),
  },
]

const readCases: readonly ContractCase[] = [
  {
    title: 'lists triggers as due exactly from dueAt, earliest first, up to the limit',
    async run(storage) {
      const dueAts = { c: 3, a: 1, none: undefined, b: 2, far: 9 }
      const triggers = Object.entries(dueAts).map(([id, due]) =>
        aTrigger({ id, dueAt: due === undefined ? undefined : at(due) }),
      )
      await insert(storage, ...triggers)

      expect(idsOf(await storage.triggers.due(at(0), 9))).toEqual([])
      expect(idsOf(await storage.triggers.due(at(1), 9))).toEqual(['a'])
      expect(idsOf(await storage.triggers.due(at(3), 9))).toEqual(['a', 'b', 'c'])
      expect(idsOf(await storage.triggers.due(at(9), 2))).toEqual(['a', 'b'])
    },
  },
  {
    title: 'lists the enabled, non-orphaned triggers of an event',
    async run(storage) {
      const event = 'paid'
      await insert(
        storage,
        aTrigger({ id: 'b', event }),
        aTrigger({ id: 'a', event }),
        aTrigger({ id: 'off', event, enabled: false }),
        aTrigger({ id: 'orphan', event, orphanedAt: at(0) }),
        aTrigger({ id: 'other', event: 'paid.late' }),
        aTrigger({ ...RULES.webhook, id: 'webhook', hook: event }),
      )

      expect(idsOf(await storage.triggers.listByEvent(event, { limit: 10 }))).toEqual(['a', 'b'])
      expect(await storage.triggers.listByEvent('nothing', { limit: 10 })).toEqual([])
    },
  },
  {
    title: 'lists the enabled, non-orphaned triggers of a hook, from the first id behind `after`',
    async run(storage) {
      const of = { kind: 'webhook', hook: 'shop' } as const
      await insert(
        storage,
        aTrigger({ ...of, id: 'b' }),
        aTrigger({ ...of, id: 'a' }),
        aTrigger({ ...of, id: 'off', enabled: false }),
        aTrigger({ ...of, id: 'orphan', orphanedAt: at(0) }),
        aTrigger({ ...of, id: 'other', hook: 'shop-2' }),
        aTrigger({ id: 'event', event: 'shop' }),
      )

      expect(await storage.triggers.find('a')).toEqual(aTrigger({ ...of, id: 'a' }))
      expect(idsOf(await storage.triggers.listByHook('shop', { limit: 10 }))).toEqual(['a', 'b'])
      expect(idsOf(await storage.triggers.listByHook('shop', { after: 'a', limit: 10 }))).toEqual(['b'])
      expect(idsOf(await storage.triggers.listByHook('shop', { limit: 1 }))).toEqual(['a'])
      expect(idsOf(await storage.triggers.listByEvent('shop', { limit: 10 }))).toEqual(['event'])
    },
  },
  {
    title: 'lists the triggers of an event in parts of at most 4 MiB and `limit` triggers, without repeats or gaps',
    async run(storage) {
      const input = toJsonText('x'.repeat(1_500_000))
      const ids = ['a', 'b', 'c', 'd', 'e', 'f']
      for (const id of ids) await insert(storage, aTrigger({ id, event: 'e', target: { ...aTrigger().target, input } }))
      const parts: string[][] = []
      for (let after: string | undefined; ; after = parts.at(-1)?.at(-1)) {
        const part = idsOf(await storage.triggers.listByEvent('e', { after, limit: 10 }))
        if (part.length === 0) break
        parts.push([...part])
      }

      expect(parts).toEqual([
        ['a', 'b'],
        ['c', 'd'],
        ['e', 'f'],
      ])
      expect(idsOf(await storage.triggers.listByEvent('e', { after: 'b', limit: 1 }))).toEqual(['c'])
    },
  },
  {
    title: 'reports how many triggers are active and when the next is due',
    async run(storage) {
      expect(await storage.triggers.overview()).toEqual({ active: 0, disabled: 0 })
      await insert(
        storage,
        aTrigger({ id: 'late', dueAt: at(7) }),
        aTrigger({ id: 'soon', dueAt: at(3) }),
        aTrigger({ id: 'off', enabled: false }),
        aTrigger({ id: 'orphan', orphanedAt: at(0) }),
      )

      expect(await storage.triggers.overview()).toEqual({ active: 2, disabled: 2, nextDueAt: at(3) })
    },
  },
  {
    title: 'reports the end time of the last run that a client started',
    async run(storage) {
      expect(await storage.triggers.lastActivity()).toEqual({ isBusy: false })
      const ended = (id: string, ms: number) => aRun({ id, status: 'completed', completedAt: at(ms) })
      await insertRuns(
        storage,
        ended('asked', 5),
        ended('earlier', 4),
        { ...ended('triggered', 8), triggerId: 'nightly' },
        { ...ended('child', 9), parentRunId: 'asked' },
        { ...ended('in session', 3), sessionId: 'ses' },
        { ...aRun({ id: 'waits', status: 'suspended' }) },
      )

      expect(await storage.triggers.lastActivity()).toEqual({ isBusy: false, endedAt: at(5) })
      expect(await storage.triggers.lastActivity('ses')).toEqual({ isBusy: false, endedAt: at(3) })
      expect(await storage.triggers.lastActivity('ses-unknown')).toEqual({ isBusy: false })
    },
  },
  {
    title: 'reports activity as busy while a run that a client started is queued or running',
    async run(storage) {
      await insertRuns(storage, aRun({ id: 'other', sessionId: 'other', status: 'running' }))

      for (const status of ['queued', 'running'] as const) {
        await insertRuns(storage, aRun({ id: status, sessionId: status, status }))
        expect(await storage.triggers.lastActivity(status)).toEqual({ isBusy: true })
      }
      await insertRuns(storage, aRun({ id: 'fired', sessionId: 'ses', status: 'running', triggerId: 'nightly' }))

      expect((await storage.triggers.lastActivity()).isBusy).toBe(true)
      expect((await storage.triggers.lastActivity('ses')).isBusy).toBe(false)
    },
  },
]

export const triggerStoreCases: readonly ContractCase[] = [
  ...recordCases,
  ...limitCases,
  ...readCases,
  ...pagedListCases({
    noun: 'triggers',
    insert: (storage, { id, createdAt, text }) =>
      insert(storage, aTrigger({ id, createdAt, target: { ...FULL_TARGET, input: toJsonText(text) } })),
    list: (storage, page) => storage.triggers.list(page),
  }),
]

/** Requirements for every `TriggerStore` and for writes of triggers. */
export const triggerStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'TriggerStore', cases: triggerStoreCases }], harness)
