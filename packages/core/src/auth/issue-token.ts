import { perdureError, plusMs, type UnitOfWork } from '@perdure/ports'
import { DURATION_FORMS, type Duration, toMilliseconds } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { type CallerFacts, callerProblem, toCallerText } from './caller.ts'
import { type NewTokenDeps, newToken } from './new-token.ts'
import { HOST_SUBJECT_PREFIX, isSubjectName, SUBJECT_NAME_RULE } from './principal.ts'

/** A token for a user of the program that embeds the server. */
export interface TokenForUser extends CallerFacts {
  /** The name of the user in the program; the token acts for the subject `host:<subject>`. */
  readonly subject: string
  /** What the user may do, such as `agents:invoke:support` and `runs:read:own`. */
  readonly scopes: readonly string[]
  /** How long the token is valid, such as `'15m'` or a number of milliseconds; at most a day. */
  readonly expiresIn: Duration
}

export interface IssuedToken {
  readonly token: string
  readonly expiresAt: string // ISO 8601
}

export interface IssueTokenDeps extends NewTokenDeps {
  readonly unitOfWork: UnitOfWork
}

/** @throws PerdureError `validation-failed` that names the member */
export type IssueToken = (request: TokenForUser) => Promise<IssuedToken>

const MAX_LIFETIME_MS = 86_400_000

/** Issues tokens that can be revoked by their subject, as those that the API creates. */
export function createIssueToken(deps: IssueTokenDeps): IssueToken {
  return async ({ subject, scopes, expiresIn, ...facts }) => {
    const owner = hostSubject(subject)
    const lifetimeMs = toMilliseconds(expiresIn) ?? 0
    if (lifetimeMs < 1 || lifetimeMs > MAX_LIFETIME_MS) {
      throw perdureError('validation-failed', {
        message: `expiresIn must be ${DURATION_FORMS}, from 1 ms to a day`,
        hint: 'issue a short token, and another one when it ends',
      })
    }
    const problem = callerProblem(facts)
    if (problem !== undefined) {
      throw perdureError('validation-failed', { message: problem, hint: 'pass only what the runs of the user need' })
    }
    const caller = toCallerText(facts)
    const expiresAt = plusMs(deps.clock.now(), lifetimeMs)
    const minted = newToken(deps, { name: 'user', subject: owner, scopes, expiresAt, caller }, { createdBy: 'host' })
    const { record } = minted
    const outcome = await deps.unitOfWork.commit([
      { type: 'token.insert', token: record },
      auditWrite({ subject: 'host' }, { at: record.createdAt, action: 'tokens.create', target: record.id }),
    ])
    if (!outcome.committed) throw perdureError('internal-error', { message: 'the generated token id already exists' })
    return { token: minted.token, expiresAt: new Date(expiresAt).toISOString() }
  }
}

/** A program without types can pass a user that it does not have. @throws PerdureError `validation-failed` */
function hostSubject(name: string): string {
  const isName = typeof name === 'string' && name !== '' && isSubjectName(`${HOST_SUBJECT_PREFIX}${name}`)
  if (isName) return `${HOST_SUBJECT_PREFIX}${name}`
  throw perdureError('validation-failed', {
    message: `subject ${SUBJECT_NAME_RULE}`,
    hint: 'pass the name of the signed-in user',
  })
}
