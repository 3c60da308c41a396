import type { RequestOrigin } from '@perdure/ports'

/** The authenticated caller. */
export interface Principal {
  /** Owner of the resources that the principal creates; stable across token rotation. */
  readonly subject: string
  readonly tokenId?: string
  readonly scopes: readonly string[]
  /** Browser session, if the credential was a cookie. A request with a cookie must pass the cross-site checks. */
  readonly browserSession?: string
  /** The current request. */
  readonly origin?: RequestOrigin | undefined
}

/** Whether a text can name a subject. */
export const isSubjectName = (text: string): boolean => /^[!-~]{1,128}$/.test(text)

export const SUBJECT_NAME_RULE = 'must have 1 to 128 visible ASCII characters'
