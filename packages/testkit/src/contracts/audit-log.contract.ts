import { createHash } from 'node:crypto'
import type { NewAuditEntry, Storage } from '@berth/ports'
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

const all = (storage: Storage) => storage.audit.read({ afterSeq: 0, limit: 1_000 })

export const auditLogCases: readonly ContractCase[] = [
  {
    title: 'a fresh audit log has no entries',
    async run(storage) {
      expect(await all(storage)).toEqual([])
    },
  },
  {
    title: 'gives back every audit entry as it was appended, with its place',
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
    title: 'links every audit entry to the one before, so that anyone can verify the chain',
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
    title: 'reads the audit log in pages after a place',
    async run(storage) {
      await append(storage, ...Array.from({ length: 5 }, (_, n) => anEntry({ target: `run_${n}` })))

      const page = await storage.audit.read({ afterSeq: 2, limit: 2 })
      expect(page.map(({ seq }) => seq)).toEqual([3, 4])
    },
  },
  {
    title: 'forgets an audit entry whose commit conflicts, and its place is used again',
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
]

/** What every `AuditLog` must do. */
export const auditLogContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'AuditLog', cases: auditLogCases }], harness)
