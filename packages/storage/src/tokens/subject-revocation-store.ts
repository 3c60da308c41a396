import type { SubjectRevocationStore } from '@perdure/ports'
import { sql } from 'kysely'
import { takeLock } from '../lock.ts'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers } from '../transaction.ts'
import { REVOCATIONS, type SubjectRevocationRow } from './subject-revocation-row.ts'

export const subjectRevocationReads: Reads<SubjectRevocationStore> = {
  *find(db, subjects) {
    return (yield* db.all(SELECT_REVOCATIONS, { subjects })).map(REVOCATIONS.toRecord)
  },
}

export const subjectRevocationWrites: WriteAppliers<'subject.revoke'> = {
  *'subject.revoke'({ db }, { revocation }) {
    yield* takeLock(db, 'families')
    const { subject, issuedUntil, revokedAt: at } = revocation
    yield* db.run(putRevocation, REVOCATIONS.toRow(revocation))
    return yield* db.run(REVOKE_TOKENS_OF_SUBJECT, { subject, issuedUntil, at })
  },
}

export const SELECT_REVOCATIONS = compile<{ subjects: readonly string[] }, SubjectRevocationRow>((param, dialect) =>
  from
    .selectFrom('subject_revocations')
    .selectAll()
    .where(dialect.isOneOf('subject', param('subjects'))),
)

const putRevocation = compile<SubjectRevocationRow, unknown>((param) =>
  from
    .insertInto('subject_revocations')
    .values(paramsFor(param, REVOCATIONS.columns))
    .onConflict((conflict) =>
      conflict
        .column('subject')
        .doUpdateSet({
          issued_until: sql`excluded.issued_until`,
          revoked_at: sql`excluded.revoked_at`,
          revoked_by: sql`excluded.revoked_by`,
        })
        .where('subject_revocations.issued_until', '<', sql<number>`excluded.issued_until`),
    ),
)

interface SubjectAt {
  readonly subject: string
  readonly issuedUntil: number
  readonly at: number
}

export const REVOKE_TOKENS_OF_SUBJECT = compile<SubjectAt, unknown>((param, dialect) => {
  const related = dialect.reached('family', 'tokens', {
    child: sql`child.parent_id = family.id`,
    old: sql`old.replaced_by = family.id`,
  })
  return sql`with recursive family (id) as (
      select id from tokens where subject = ${param('subject')} and created_at <= ${param('issuedUntil')} union ${related}
    )
    update tokens set revoked_at = ${param('at')}
    where ${dialect.isSelected('id', sql`select id from family`)} and revoked_at is null`
})
