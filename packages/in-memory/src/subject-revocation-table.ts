import type { SubjectRevocation, SubjectRevocationStore } from '@perdure/ports'
import type { TokenTable } from './token-table.ts'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createSubjectRevocationTable({
  revokeTokensOf,
}: Pick<TokenTable, 'revokeTokensOf'>): Table<SubjectRevocationStore, WritesOf<'subject'>> {
  const revocations = new Map<string, SubjectRevocation>()

  return {
    store: { find: async (subjects) => [...new Set(subjects)].flatMap((subject) => revocations.get(subject) ?? []) },
    appliers: {
      'subject.revoke'({ revocation }, { undo }) {
        const known = revocations.get(revocation.subject)
        if (known === undefined || known.issuedUntil < revocation.issuedUntil) {
          putEntry(revocations, [revocation.subject, Object.freeze({ ...revocation })], undo)
        }
        return revokeTokensOf(revocation, undo)
      },
    },
  }
}
