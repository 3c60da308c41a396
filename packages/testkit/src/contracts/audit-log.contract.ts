import { createHash, createHmac } from 'node:crypto'
import { type AuditKeys, type NewAuditEntry, type Storage, UNVOUCHED } from '@perdure/ports'
import { expect } from 'vitest'
import { commit } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'

const anEntry = (over: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  at: at(1_000),
  actor: { kind: 'token', id: 'tok_1', subject: 'alice' },
  action: 'runs.replay',
  decision: 'allowed',
  ...over,
})

const append = (storage: Storage, ...entries: readonly NewAuditEntry[]) =>
  commit(storage, ...entries.map((entry) => ({ type: 'audit.append', entry }) as const))

const KEYS: AuditKeys = [Buffer.from('current'), Buffer.from('previous')]
const KEY = KEYS[0]

const appendKeyed = (storage: Storage, count: number, keys: AuditKeys = KEYS) =>
  commit(
    storage,
    ...Array.from(
      { length: count },
      (_, n) => ({ type: 'audit.append', entry: anEntry({ target: `${n}` }), keys }) as const,
    ),
  )

const hmac = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('hex')

const all = (storage: Storage) => storage.audit.read({ afterSeq: 0, limit: 1_000 })

export const auditLogCases: readonly ContractCase[] = [
  {
    title: 'starts with no audit entries',
    async run(storage) {
      expect(await all(storage)).toEqual([])
    },
  },
  {
    title: 'returns every audit entry as it was appended, with its seq',
    async run(storage) {
      const full = anEntry({ target: 'run_1', requestId: 'req_1', detail: { raw: true, count: 2, why: 'x' } })
      await append(storage, full, anEntry({ actor: { kind: 'system', subject: 'cli' } }))

      expect(await all(storage)).toMatchObject([
        { ...full, seq: 1 },
        { seq: 2, actor: { kind: 'system', subject: 'cli' } },
      ])
    },
  },
  {
    title: 'links every audit entry to the previous one, so that anyone can verify the chain',
    async run(storage) {
      for (let n = 0; n < 20; n++) await append(storage, anEntry({ target: `run_${n}` }))

      let prevHash = '0'.repeat(64)
      for (const [index, entry] of (await all(storage)).entries()) {
        expect(entry.prevHash).toBe(prevHash)
        expect(entry.hash).toBe(
          createHash('sha256')
            .update(prevHash + entry.entry)
            .digest('hex'),
        )
        expect(JSON.parse(entry.entry)).toMatchObject({
          seq: index + 1,
          target: `run_${index}`,
          at: new Date(at(1_000)).toISOString(),
        })
        prevHash = entry.hash
      }
    },
  },
  {
    title: 'keeps one unbroken audit chain under concurrent commits',
    async run(storage) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => append(storage, anEntry({ target: `run_${n}` }))))

      const entries = await all(storage)
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
      for (const [index, entry] of entries.slice(1).entries()) expect(entry.prevHash).toBe(entries[index]?.hash)
    },
  },
  {
    title: 'reads the audit log in pages after a seq',
    async run(storage) {
      await append(storage, ...Array.from({ length: 5 }, (_, n) => anEntry({ target: `run_${n}` })))

      const page = await storage.audit.read({ afterSeq: 2, limit: 2 })
      expect(page.map(({ seq }) => seq)).toEqual([3, 4])
    },
  },
  {
    title: 'discards an audit entry whose commit conflicts and reuses its seq',
    async run(storage) {
      await append(storage, anEntry())
      const outcome = await storage.unitOfWork.commit([
        { type: 'audit.append', entry: anEntry({ target: 'lost' }) },
        { type: 'run.fence', runId: 'nobody', attempt: 1 },
      ])
      expect(outcome.committed).toBe(false)
      await append(storage, anEntry({ target: 'kept' }))

      expect((await all(storage)).map(({ seq, target }) => [seq, target])).toEqual([
        [1, undefined],
        [2, 'kept'],
      ])
    },
  },
  {
    title: 'reads the audit log backwards before a seq',
    async run(storage) {
      await appendKeyed(storage, 5)

      const page = await storage.audit.readBefore({ beforeSeq: 5, limit: 2 })
      expect(page.map(({ seq }) => seq)).toEqual([4, 3])
      expect(page[0]).toEqual((await all(storage))[3])
    },
  },
  {
    title: 'reads the links of the audit log without parsing the entries',
    async run(storage) {
      await appendKeyed(storage, 3)

      const [, , third] = await all(storage)
      const { seq, hash, prevHash, entry } = third!
      expect(await storage.audit.links({ afterSeq: 2, limit: 9 })).toEqual([{ seq, hash, prevHash, entry }])
    },
  },
  {
    title: 'signs the head of the audit chain with every commit',
    async run(storage) {
      expect(await storage.audit.state()).toEqual({ last: undefined, head: undefined, base: undefined })
      await appendKeyed(storage, 2)
      await appendKeyed(storage, 1)

      const last = (await all(storage))[2]!
      const head = { seq: 3, hash: last.hash, mac: hmac(KEY, `3${last.hash}`) }
      expect(await storage.audit.state()).toEqual({ last: { seq: 3, hash: last.hash }, head, base: undefined })
    },
  },
  {
    title: 'accepts a head that an earlier audit key signed',
    async run(storage) {
      await appendKeyed(storage, 1, [Buffer.from('previous')])
      await appendKeyed(storage, 1)

      const last = (await all(storage))[1]!
      expect((await storage.audit.state()).head?.mac).toBe(hmac(KEY, `2${last.hash}`))
    },
  },
  {
    title: 'inserts an unvouched entry into the audit chain when no key authenticates its head',
    async run(storage) {
      await appendKeyed(storage, 1, [Buffer.from('stranger')])
      await appendKeyed(storage, 2)

      expect((await all(storage)).map(({ action, detail }) => [action, detail?.after])).toEqual([
        ['runs.replay', undefined],
        [UNVOUCHED, 1],
        ['runs.replay', undefined],
        ['runs.replay', undefined],
      ])
    },
  },
  {
    title: 'appends an audit entry of a source only once until the source is released',
    async run(storage) {
      const write = { type: 'audit.append', entry: anEntry(), source: 'key-1' } as const
      const counts = [(await commit(storage, write)).counts, (await commit(storage, write)).counts]
      await commit(storage, { type: 'audit.release', keys: ['key-1', 'unknown'] })

      expect([...counts, (await commit(storage, write)).counts]).toEqual([[1], [0], [1]])
      expect(await all(storage)).toHaveLength(2)
    },
  },
  {
    title: 'publishes an audit entry with its hashes in the same commit if publish is set',
    async run(storage) {
      const { events } = await commit(storage, { type: 'audit.append', entry: anEntry(), publish: true })
      await append(storage, anEntry())

      const [first] = await all(storage)
      expect(events).toMatchObject([{ topic: 'audit/events', type: 'audit.appended', at: at(1_000) }])
      expect(await storage.events.read({ topic: 'audit/events' }, { after: 0, limit: 9 })).toEqual(events)
      expect(JSON.parse(events[0]!.payload)).toEqual({
        ...JSON.parse(first!.entry),
        prevHash: first!.prevHash,
        hash: first!.hash,
      })
    },
  },
  {
    title: 'keeps staged audit entries in order until they are released',
    async run(storage) {
      const stage = (key: string) =>
        commit(storage, { type: 'audit.stage', key, entry: anEntry({ target: key }) } as const)
      const counts = [(await stage('b')).counts, (await stage('a')).counts, (await stage('b')).counts]

      expect(counts).toEqual([[1], [1], [0]])
      expect(await storage.audit.staged(1)).toEqual([{ key: 'b', entry: anEntry({ target: 'b' }) }])
      await commit(storage, { type: 'audit.release', keys: ['b'] })
      expect((await storage.audit.staged(9)).map(({ key }) => key)).toEqual(['a'])
      expect(await all(storage)).toEqual([])
    },
  },
  {
    title: 'prunes the audit chain at a location that it signs and leaves the remaining hashes unchanged',
    async run(storage) {
      await appendKeyed(storage, 5)
      const before = await all(storage)

      const { counts } = await commit(storage, { type: 'audit.prune', throughSeq: 3, keys: KEYS })

      const { hash } = before[2]!
      expect(counts).toEqual([3])
      expect(await all(storage)).toEqual(before.slice(3))
      expect((await storage.audit.state()).base).toEqual({ seq: 3, hash, mac: hmac(KEY, `base3${hash}`) })
      expect((await commit(storage, { type: 'audit.prune', throughSeq: 2, keys: KEYS })).counts).toEqual([0])
    },
  },
  {
    title: 'continues from the head of the audit chain after all entries were pruned',
    async run(storage) {
      await appendKeyed(storage, 2)
      const last = (await all(storage))[1]!
      await commit(storage, { type: 'audit.prune', throughSeq: 2, keys: KEYS })
      await appendKeyed(storage, 1)

      expect(await all(storage)).toMatchObject([{ seq: 3, prevHash: last.hash, action: 'runs.replay' }])
    },
  },
]

/** Requirements for every `AuditLog`. */
export const auditLogContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'AuditLog', cases: auditLogCases }], harness)
