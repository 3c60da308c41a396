import type { SubjectRevocation, SubjectRevocationStore } from '@perdure/ports'
import type { TokenTable } from './token-table.ts'
import { putEntry } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface SubjectRevocationTable {
  readonly store: SubjectRevocationStore
  readonly appliers: Pick<WriteAppliers, 'subject.revoke'>
}

export function createSubjectRevocationTable({ revokeTokensOf }: Pick<TokenTable, 'revokeTokensOf'>) {
  const revocations = new Map<string, SubjectRevocation>()

  const table: SubjectRevocationTable = {
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
  return table
}
