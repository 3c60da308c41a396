import {
  type Page,
  type PageQuery,
  perdureError,
  type SubjectRevocation,
  type TokenRecord,
  type TokenStore,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { ID_PREFIXES } from '@perdure/protocol'
import { type MintToken, type NewToken, type NewTokenDeps, newToken } from './new-token.ts'
import { checkUnreserved } from './principal.ts'
import { type SubjectToRevoke, subjectRevocation } from './revoke-subject.ts'

export interface ManageTokensDeps extends NewTokenDeps {
  readonly tokens: TokenStore
  readonly unitOfWork: UnitOfWork
}

/** Token management for the operator of the server, who needs no token. Every change writes an audit entry. */
export interface ManageTokens {
  /** Creates a token. The token text is returned only here and never stored. @throws PerdureError `validation-failed` */
  mint(request: MintToken, createdBy: string): Promise<NewToken>
  list(page: PageQuery): Promise<Page<TokenRecord>>
  /** Revokes a token and its descendants, permanently. Idempotent. @throws PerdureError `token-not-found` */
  revoke(id: string, revokedBy: string): Promise<TokenRecord>
  /** Revokes what a user can sign in with. @throws PerdureError `validation-failed` */
  revokeSubject(request: SubjectToRevoke, revokedBy: string): Promise<SubjectRevocation>
}

export function createManageTokens(deps: ManageTokensDeps): ManageTokens {
  const { tokens, unitOfWork, clock } = deps

  /** The actor is `system`: the operator has access to the database file and holds no token. */
  const audit = (by: string, action: string, target: string): Write => ({
    type: 'audit.append',
    entry: { at: clock.now(), actor: { kind: 'system', subject: by }, action, target, decision: 'allowed' },
  })

  return {
    async mint(request, createdBy) {
      checkUnreserved(request.subject)
      const minted = newToken(deps, request, { createdBy })
      const { record } = minted
      const outcome = await unitOfWork.commit([
        { type: 'token.insert', token: record },
        audit(createdBy, 'tokens.create', record.id),
      ])
      if (!outcome.committed) throw perdureError('internal-error', { message: 'the generated token id already exists' })
      return minted
    },

    list: (page) => tokens.list(page),

    async revoke(id, revokedBy) {
      const outcome = await unitOfWork.commit([
        { type: 'token.revoke', id, at: clock.now() },
        audit(revokedBy, 'tokens.revoke', id),
      ])
      const record = outcome.committed ? await tokens.find(id) : undefined
      if (record === undefined)
        throw perdureError('token-not-found', { hint: `pass a token id, which starts with ${ID_PREFIXES.token}_` })
      return record
    },

    async revokeSubject(request, by) {
      const write = subjectRevocation(request, { now: clock.now(), by })
      await unitOfWork.commit([write, audit(by, 'subjects.revoke', write.revocation.subject)])
      return write.revocation
    },
  }
}
