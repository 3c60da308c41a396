import { type JsonText, perdureError, type RequestOrigin } from '@perdure/ports'
import { CHAT_SUBJECT_PREFIX } from '@perdure/protocol'

/** The authenticated caller. */
export interface Principal {
  /** Owner of the resources that the principal creates; stable across token rotation. */
  readonly subject: string
  /** The id of the token, or of the JWT (`jwt-credential.ts`). */
  readonly tokenId?: string
  readonly scopes: readonly string[]
  /** Facts about the user (`caller.ts`); the runs that it starts can read it. */
  readonly caller?: JsonText | undefined
  /** Browser session, if the credential was a cookie. A request with a cookie must pass the cross-site checks. */
  readonly browserSession?: string
  /** The current request. */
  readonly origin?: RequestOrigin | undefined
}

export const JWT_SUBJECT_PREFIX = 'jwt:'
export const HOST_SUBJECT_PREFIX = 'host:'
export const OIDC_SUBJECT_PREFIX = 'oidc:'

const SIGN_IN = [JWT_SUBJECT_PREFIX, HOST_SUBJECT_PREFIX, OIDC_SUBJECT_PREFIX]

/** Whether the subject is a user of an issuer, of the host or of a provider, who can sign in without a token of the API. */
export const canSignIn = (subject: string): boolean => SIGN_IN.some((prefix) => subject.startsWith(prefix))

/** Whether a token that is not for such a user cannot have the subject. */
const isReservedSubject = (subject: string): boolean => canSignIn(subject) || subject.startsWith(CHAT_SUBJECT_PREFIX)

/** @throws PerdureError `validation-failed` */
export function checkUnreserved(subject: string | undefined): void {
  if (subject === undefined || !isReservedSubject(subject)) return
  throw perdureError('validation-failed', {
    message: `subject ${subject} has a prefix that is reserved`,
    hint: 'use a subject that starts with none of jwt:, host:, oidc: and chat:',
  })
}

/** Whether a text can name a subject. */
export const isSubjectName = (text: string): boolean => /^[!-~]{1,128}$/.test(text)

export const SUBJECT_NAME_RULE = 'must have 1 to 128 visible ASCII characters'

/** @throws PerdureError `validation-failed` */
export function checkSubjectName(subject: string): void {
  if (!isSubjectName(subject)) throw perdureError('validation-failed', { message: `subject ${SUBJECT_NAME_RULE}` })
}
