import type { Storage, SubjectRevocation } from '@perdure/ports'
import { expect } from 'vitest'
import { aToken } from '../builders.ts'
import { commit } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'

const aRevocation = (over: Partial<SubjectRevocation> = {}): SubjectRevocation => ({
  ...{ subject: 'jwt:app:alice', issuedUntil: at(1_000), revokedAt: at(2_000), revokedBy: 'ops', ...over },
})

const revoke = (storage: Storage, ...revocations: readonly SubjectRevocation[]) =>
  commit(storage, ...revocations.map((revocation) => ({ type: 'subject.revoke', revocation }) as const))

export const subjectRevocationStoreCases: readonly ContractCase[] = [
  {
    title: 'finds the revocations of several subjects, each once, and leaves out subjects without one',
    async run(storage) {
      const revocations = ['jwt:app:alice', 'jwt:app:bob', 'host:Grüße'].map((subject) => aRevocation({ subject }))
      await revoke(storage, ...revocations)

      const found = await storage.subjectRevocations.find(['jwt:app:bob', 'jwt:app:bob', 'host:Grüße', 'unknown'])

      expect([...found].sort((a, b) => (a.subject < b.subject ? -1 : 1))).toEqual([revocations[2], revocations[1]])
      expect(await storage.subjectRevocations.find([])).toEqual([])
    },
  },
  {
    title: 'replaces a revocation by one that covers more',
    async run(storage) {
      const later = aRevocation({ issuedUntil: at(5_000), revokedAt: at(6_000), revokedBy: 'bob' })
      await revoke(storage, aRevocation(), later)

      expect(await storage.subjectRevocations.find([later.subject])).toEqual([later])
    },
  },
  {
    title: 'keeps a revocation that covers more than a later one',
    async run(storage) {
      await revoke(
        storage,
        aRevocation(),
        aRevocation({ issuedUntil: at(999), revokedAt: at(9_000), revokedBy: 'bob' }),
      )

      expect(await storage.subjectRevocations.find([aRevocation().subject])).toEqual([aRevocation()])
    },
  },
  {
    title: 'revokes the tokens of the subject that were created until then, with their descendants, and counts them',
    async run(storage) {
      const { subject } = aRevocation()
      const tokens = [
        aToken({ id: 'old', subject, createdAt: at(1_000) }),
        aToken({ id: 'child', subject: 'other', parentId: 'old', createdAt: at(1_500) }),
        aToken({ id: 'new', subject, createdAt: at(1_001) }),
        aToken({ id: 'others', subject: 'jwt:app:bob', createdAt: at(1_000) }),
        aToken({ id: 'before', subject, createdAt: at(1), revokedAt: at(500) }),
      ]
      await commit(storage, ...tokens.map((token) => ({ type: 'token.insert', token }) as const))

      const { counts } = await commit(storage, { type: 'subject.revoke', revocation: aRevocation() })

      expect(counts).toEqual([2])
      const revoked = await Promise.all(tokens.map(async ({ id }) => (await storage.tokens.find(id))?.revokedAt))
      expect(revoked).toEqual([at(2_000), at(2_000), undefined, undefined, at(500)])
    },
  },
]

/** Requirements for every `SubjectRevocationStore` and its write. */
export const subjectRevocationStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'SubjectRevocationStore', cases: subjectRevocationStoreCases }], harness)
